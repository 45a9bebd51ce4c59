import { describe, expect, test } from "vitest";
import { isUnreadable } from "#lib/http/form-body";

const id = "60a5c63ef2b36e54306d1ad5a2c65a0c35f3c80909";

function asked(body: BodyInit, headers: Record<string, string> = {}) {
  return isUnreadable(new Request("http://localhost/sign-in", { method: "POST", body, headers }));
}
const asAction = { "Next-Action": id };

function makeForm(fields: [name: string, value: string | Blob][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

/** What a form without JavaScript has of its action. */
const reference = (stated: string, ...bound: string[]): [string, string][] => [
  ["$ACTION_REF_1", ""],
  ["$ACTION_1:0", stated],
  ...bound.map((text, index): [string, string] => [`$ACTION_1:${index + 1}`, text]),
  ["$ACTION_KEY", "k1"],
  ["email", "$1"],
];

describe("a body that pages send can be read:", () => {
  test.each([
    ["no arguments", "[]"],
    ["values", `["x",3,null,{"at":4,"talk":"$undefined","text":"$$5"},[["a"]]]`],
  ])("%s", async (_, text) => {
    expect(await asked(text, asAction)).toBe(false);
  });

  test("a form that a script sends, with the state before", async () => {
    const form = makeForm([
      ["_1_email", "$5\r\n\r\nContent-Type: none\r\n"],
      ["_1_$ACTION_REF_1", ""],
      ["0", `[{"error":"$undefined"},"$K1"]`],
    ]);
    expect(await asked(form, asAction)).toBe(false);
  });

  test.each([
    ["of an action", makeForm([[`$ACTION_ID_${id}`, ""]])],
    ["of one that is bound to a state", makeForm(reference(`{"id":"${id}","bound":"$@1"}`, "[{}]"))],
    ["of one that is bound to nothing", makeForm(reference(`{"id":"${id}","bound":null}`))],
    ["of none", makeForm([["name", "x"]])],
  ])("a form without script, %s", async (_, form) => {
    expect(await asked(form)).toBe(false);
  });
});

describe("what Next would answer with 500 is found before:", () => {
  const references = [..."$1 $@1 $F1 $T $Q1 $W1 $i1 $K1 $B1 $nx $Dx $A1 $R1 $1:a $ $h1".split(" "), "$K99999", "$Kx"];

  test.each(references.map((text) => [text]))("the reference %s", async (text) => {
    expect(await asked(JSON.stringify([{ a: [text] }]), asAction)).toBe(true);
    const inForm = makeForm([["0", JSON.stringify([text])]]);
    expect(await asked(inForm, asAction)).toBe(text !== "$K1");
    expect(await asked(makeForm(reference(`{"id":"${id}","bound":"$@1"}`, JSON.stringify([text]))))).toBe(true);
  });

  test.each([
    ["no array", `{"a":1}`],
    ["no JSON", "[{"],
    ["what is nested without end", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
    ["too many arguments", JSON.stringify(Array(1001).fill(1))],
  ])("arguments that are %s", async (_, text) => {
    expect(await asked(text, asAction)).toBe(true);
    expect(await asked(makeForm([["0", text]]), asAction)).toBe(true);
  });

  test.each<[string, [string, string | Blob][]]>([
    ["without arguments", [["_1_email", "x"]]],
    [
      "with arguments twice",
      [
        ["0", "[]"],
        ["0", "[]"],
      ],
    ],
    ["with a file as arguments", [["0", new Blob(["[]"])]]],
    [
      "to an action that closes over what Next encrypts",
      [
        ["1", `"aB3+/="`],
        ["_2_ticket", "x"],
        ["0", `["$@1","$K2"]`],
      ],
    ],
    [
      "with a part that is no field",
      [
        ["1", "[]"],
        ["0", "[]"],
      ],
    ],
  ])("a form that a script sends %s", async (_, fields) => {
    expect(await asked(makeForm(fields), asAction)).toBe(true);
  });

  test.each([
    ["of another encoding", "Content-Transfer-Encoding: base64\r\n", "W10="],
    ["of another character set", "content-type: text/plain; charset=utf-16\r\n", "[]"],
  ])("arguments %s", async (_, header, text) => {
    const part = `--x\r\nContent-Disposition: form-data; name="0"\r\n${header}\r\n${text}\r\n--x--\r\n`;
    const type = { "Content-Type": "multipart/form-data; boundary=x" };
    for (const before of ["", "--preamble\r\n"]) {
      expect(await asked(before + part, { ...asAction, ...type })).toBe(true);
    }
    expect(await asked(part.replace(header, "").replace(text, "[]"), { ...asAction, ...type })).toBe(false);
  });

  test("arguments behind a byte order mark", async () => {
    expect(await asked("\ufeff[]", asAction)).toBe(true);
  });

  test.each([
    ["nothing", [["$ACTION_REF_1", ""]]],
    ["no object", reference("null")],
    ["no id", reference(`{"bound":null}`)],
    ["another id than actions have", reference(`{"id":"__proto__","bound":null}`)],
    ["values that are missing", reference(`{"id":"${id}","bound":"$@1"}`)],
    ["values that are no array", reference(`{"id":"${id}","bound":"$@1"}`, "{}")],
    ["more than values", reference(`{"id":"${id}","bound":"$@1"}`, "[]", "[]")],
    ["what Next encrypts", reference(`{"id":"${id}","bound":"$@1"}`, `["$@2"]`, `"aB3+/="`)],
    ["values of another kind", reference(`{"id":"${id}","bound":[1]}`)],
    ["two actions", [...reference(`{"id":"${id}","bound":null}`), ["$ACTION_REF_2", ""]]],
  ] as [string, [string, string][]][])("a form whose action is stated as %s", async (_, fields) => {
    expect(await asked(makeForm(fields))).toBe(true);
  });
});
