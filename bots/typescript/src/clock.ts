/** Monotonic time in ms, the same in all threads of the process. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
