// The only JavaScript of the project: it fetches and compiles the page's module, which has a part of the engine too,
// starts the page, and makes workers of it; later, of the whole engine's.
"use strict";

(() => {
  const { glue, wasm, engineGlue, engineWasm, panels } = document.currentScript.dataset;
  const root = document.documentElement;
  const element = (id) => document.getElementById(id);

  // What the browser kept decides how the page looks before the module is there.
  const kept = (key) => {
    try {
      return localStorage.getItem(`foldback.${key}`);
    } catch {
      return null;
    }
  };
  const theme = kept("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (kept("text")) root.dataset.own = "";

  // The banner works when nothing else does: it needs neither the module nor a network.
  const fail = (message) => {
    root.dataset.state = "failed";
    element("banner-text").textContent = message;
    element("banner").hidden = false;
  };
  element("banner-copy").onclick = () => {
    const text = element("text")?.value ?? kept("text") ?? "";
    void navigator.clipboard.writeText(text);
  };
  element("banner-reload").onclick = () => location.reload();
  // A trap without a panic has no words of its own.
  addEventListener("error", ({ error }) => {
    if (globalThis.WebAssembly && error instanceof WebAssembly.RuntimeError) {
      if (root.dataset.state !== "failed") fail(`The page crashed: ${error.message}`);
    }
  });

  // A module of one function that uses two instructions of simd128.
  const SIMD = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253,
    15, 253, 98, 11,
  ]);

  // What a worker does behind its glue: the first message carries its module; Rust takes over the later ones.
  const WORKER = `
    self.onmessage = ({ data: { module, faults } }) => {
      self.onmessage = null;
      wasm_bindgen.initSync({ module });
      wasm_bindgen.start_worker(faults);
    };`;
  const SCRIPT = { type: "text/javascript" };
  const ONCE = { once: true };

  const start = async () => {
    if (!globalThis.WebAssembly) {
      return fail("This browser has no WebAssembly, in which Foldback's engine is written.");
    }
    if (!WebAssembly.validate(SIMD)) {
      return fail(
        "This browser has no WebAssembly SIMD (simd128), which Foldback's engine needs. " +
          "Chrome and Firefox have it since 2021, Safari since 2023.",
      );
    }
    // All that a worker is made of is here before it is started: nothing is fetched again, also offline.
    const compile = async (glue, wasm) => {
      const [script, module] = await Promise.all([
        fetch(glue).then((response) => response.text()),
        WebAssembly.compileStreaming(fetch(wasm)),
      ]);
      return { script: URL.createObjectURL(new Blob([script, WORKER], SCRIPT)), module };
    };
    let engine = await compile(glue, wasm);
    const { module } = engine;
    const faults = new URLSearchParams(location.search).has("fault");
    globalThis.foldback = {
      fail: (message) => fail(`The page crashed, and your text is kept. ${message}`),
      // A classic worker: a module worker cannot be started from a page opened as a file.
      spawnWorker() {
        const { script, module, whole } = engine;
        const worker = new Worker(script);
        worker.postMessage({ module, faults });
        if (whole) worker.addEventListener("message", () => (root.dataset.engine = "whole"), ONCE);
        return worker;
      },
      // What the first picture and its steps do without. Workers that are started from then on have it.
      loadEngine(done) {
        compile(engineGlue, engineWasm).then(
          (whole) => {
            engine = { ...whole, whole: true };
            const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: panels });
            document.head.append(style);
            done();
          },
          (error) => done(`The rest of the engine could not be loaded: ${error.message}`),
        );
      },
    };
    await wasm_bindgen({ module_or_path: module });
    wasm_bindgen.start_page();
  };

  start().catch((error) => {
    console.error(error);
    fail(`Foldback did not start: ${error.message}`);
  });
})();
