// What draws messages runs on a thread, which has no style sheets; a page that shows them imports these.
import "./messages.css";
import "./parts.css";
import "./prose/prose.css";
import "./code/code.css";
