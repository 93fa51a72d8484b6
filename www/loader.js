// The only JavaScript of the project. It runs in two places, from the same file:
// on the page it fetches and compiles the module once and starts the page;
// in the worker it receives the compiled module from the page and starts the engine.
"use strict";

(() => {
  if (typeof document === "undefined") {
    // The page's first message carries what the worker is made of; Rust takes over the later ones.
    self.onmessage = ({ data: { glue, module } }) => {
      self.onmessage = null;
      importScripts(glue);
      wasm_bindgen.initSync({ module });
      wasm_bindgen.start_worker();
    };
    return;
  }

  const { src: loader, dataset: { glue, wasm } } = document.currentScript;

  const start = async () => {
    const module = await WebAssembly.compileStreaming(fetch(wasm));
    globalThis.foldback = {
      // A classic worker: a module worker cannot be started from a page opened as a file.
      spawnWorker() {
        const worker = new Worker(loader);
        worker.postMessage({ glue: new URL(glue, document.baseURI).href, module });
        return worker;
      },
    };
    await wasm_bindgen({ module_or_path: module });
    wasm_bindgen.start_page();
  };

  start().catch((error) => {
    document.documentElement.dataset.state = "failed";
    console.error(error);
  });
})();
