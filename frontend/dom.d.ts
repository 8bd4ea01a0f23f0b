// For `deno check`: what a selector finds is of the kind that the selector says, which TypeScript cannot know.
interface Document {
  getElementById(id: string): any;
}
interface ParentNode {
  querySelector(selectors: string): any;
  querySelectorAll(selectors: string): NodeListOf<any>;
}
interface Element {
  closest(selectors: string): any;
  // Nothing else gets the focus.
  focus(options?: FocusOptions): void;
  blur(): void;
}
