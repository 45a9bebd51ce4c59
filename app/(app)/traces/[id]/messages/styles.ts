// The drawing thread cannot import style sheets, so pages with messages do.
import "./messages.css";
import "./parts.css";
import "./prose/prose.css";
import "./code/code.css";
