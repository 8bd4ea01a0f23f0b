/** Pages of the guidelines: images open in full size; where guidelines are written, images come into the text. */

import { byId } from "../base/dom.js";
import { bindImageZoom } from "../base/image-zoom.js";
import { ImageEditor } from "./image-editor.js";

bindImageZoom();
const editor = byId("editor-data");
if (editor) new ImageEditor(JSON.parse(editor.textContent));
