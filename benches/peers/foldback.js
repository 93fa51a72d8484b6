// Foldback's workloads for the peers' harness: see README.md beside this file.
// A workload's text and inputs are the engine's own; the harness's inputs are set over them.
import init, { Chain, Work } from "./foldback/foldback_benches.js";

export default {
  name: "foldback",
  version: "0.1.0",
  async init() {
    await init({ module_or_path: "/dist/foldback_benches_bg.wasm" });
  },
  prepare(c, { params, consts }) {
    const work = c.w === "W4" ? Chain.make(c.n) : Work.make(c.id);
    for (const [name, { data }] of Object.entries({ ...params, ...consts }))
      if (name !== "labels" && !work.set(name, data)) throw new Error(`no leaf ${name}`);
    return {
      fwd: () => work.forward(),
      step: () => work.step(),
      probe() {
        const loss = work.step();
        return { loss, params: Object.fromEntries(Object.keys(params).map((k) => [k, work.after(k)])) };
      },
      dispose: () => work.free(),
    };
  },
};
