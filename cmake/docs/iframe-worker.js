// A page that is opened as a file gets no worker from its browser; a frame does the work of one, so
// that search works there too.
// SPDX-License-Identifier: MIT
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((done) => (frame.onload = () => done(frame.contentWindow)));
      window.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      frame.srcdoc = `<script>postMessage = parent.answer<\/script><script src="${script}"><\/script>`;
      document.head.append(frame);
    }
    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
