import type { Host } from "../adapters/adapter.ts";
import { runTool } from "../install/tools.ts";

const title = "Spoor";

/** Shows a notification on the desktop, if there is one. The message is never part of a program's source. */
export async function notify(host: Host, message: string): Promise<void> {
  if (host.platform === "darwin") {
    const script = ["on run argv", "display notification (item 1 of argv) with title (item 2 of argv)", "end run"];
    await runTool(host, ["osascript", ...script.flatMap((line) => ["-e", line]), message, title]);
  } else if (host.platform === "win32") {
    const words = ["powershell", "-NoProfile", "-NonInteractive", "-WindowStyle", "Hidden", "-Command", toast];
    await runTool(host, words, { SPOOR_TITLE: title, SPOOR_MESSAGE: message });
  } else await runTool(host, ["notify-send", "--app-name", title, "--", title, message]);
}

/** Windows requires the id of a known program, so this is PowerShell's. */
const toast = [
  "$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]",
  "$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent('ToastText02')",
  "$texts = $xml.GetElementsByTagName('text')",
  "$null = $texts.Item(0).AppendChild($xml.CreateTextNode($env:SPOOR_TITLE))",
  "$null = $texts.Item(1).AppendChild($xml.CreateTextNode($env:SPOOR_MESSAGE))",
  "$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'",
  "$toast = [Windows.UI.Notifications.ToastNotification]::new($xml)",
  "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show($toast)",
].join("; ");
