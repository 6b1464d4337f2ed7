// release_server.js
const prepared = new Map();

// All coins come from the seed: two 32-bit halves, then mulberry32.
function generator(seed) {
  let state = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
}

// The sum of numbers in [0, 1] with Laplace noise of scale 1.
function release(data, uniform) {
  const sum = data.reduce((one, other) => one + other, 0);
  return sum + Math.log(uniform()) - Math.log(uniform());
}

function reply(asked) {
  if (asked.op === "hello") return { seeded: true, batch: 1000, queries: false };
  if (asked.op === "prepare") prepared.set(asked.id, asked.data);
  if (asked.op === "forget") prepared.delete(asked.id);
  if (asked.op !== "sample") return { ok: true };
  const uniform = generator(asked.seed);
  const data = prepared.get(asked.id);
  return { answers: Array.from({ length: asked.size }, () => release(data, uniform)) };
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log(JSON.stringify(reply(JSON.parse(line)))));
