import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, Metadata, type StatusObject } from "@grpc/grpc-js";
import type { Target } from "./address.js";
import {
  type Act,
  type BotEvent,
  BotEventSchema,
  type PlayRequest,
  PlayRequestSchema,
  type PlayResponse,
  PlayResponseSchema,
  PlayService,
} from "./gen/botarena/v1/play_pb.js";

/** Most that goes into one frame; the arena refuses 64 KiB. */
const FRAME_BYTES = 60_000;
/** Tag and length of an event in a frame, generously. */
const EVENT_OVERHEAD = 8;

const OPTIONS = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.max_receive_message_length": 16 << 20,
  // Channels of one process share connections and their back-off; ours is its own.
  "grpc.use_local_subchannel_pool": 1,
};

/** One stream to the arena. */
export class Stream {
  /** How it ended, once all frames were handed out. Never rejects. */
  readonly ended: Promise<StatusObject>;
  readonly #client: Client;
  readonly #call: ClientDuplexStream<PlayRequest, PlayResponse>;
  #outbox: BotEvent[] = [];
  #flushing = false;
  #mostBytes = FRAME_BYTES;

  constructor(target: Target, token: string, onFrame: (frame: PlayResponse) => void) {
    const metadata = new Metadata();
    if (token) metadata.set("authorization", `Bearer ${token}`);
    this.#client = new Client(target.text, target.credentials, OPTIONS);
    this.#call = this.#client.makeBidiStreamRequest(
      `/${PlayService.typeName}/${PlayService.method.play.name}`,
      (frame: PlayRequest) => Buffer.from(toBinary(PlayRequestSchema, frame)),
      (bytes: Buffer) => fromBinary(PlayResponseSchema, bytes),
      metadata,
    );
    this.#call.on("data", onFrame);
    this.#call.on("error", () => {}); // told by the status as well
    this.ended = new Promise((resolve) => {
      this.#call.on("status", (status: StatusObject) => setImmediate(resolve, status));
    });
  }

  /** Whatever gathers before the last frame is written goes out as one. */
  send(event: BotEvent): void {
    this.#outbox.push(event);
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => this.#flush());
  }

  /** Keeps frames below what the arena takes. */
  limit(bytes: number): void {
    if (bytes > 0) this.#mostBytes = Math.min(FRAME_BYTES, bytes);
  }

  close(): void {
    this.#outbox = [];
    this.#call.cancel();
    this.#client.close();
  }

  #flush(): void {
    while (this.#outbox.length > 0) {
      if (!this.#call.write(nextFrame(this.#outbox, this.#mostBytes))) {
        this.#call.once("drain", () => this.#flush());
        return;
      }
    }
    this.#flushing = false;
  }
}

/** Takes as many events off `outbox` as fit into one frame, at least one; an annotation that fits into none is left out. */
export function nextFrame(outbox: BotEvent[], mostBytes: number): PlayRequest {
  const events: BotEvent[] = [];
  let size = 0;
  for (let event = outbox[0]; event; event = outbox[0]) {
    let bytes = sizeOf(event);
    if (bytes > mostBytes && event.event.case === "act") {
      const act: Act = { ...event.event.value, annotation: undefined };
      event = create(BotEventSchema, { event: { case: "act", value: act } });
      bytes = sizeOf(event);
    }
    if (events.length > 0 && size + bytes > mostBytes) break;
    events.push(event);
    outbox.shift();
    size += bytes;
  }
  return create(PlayRequestSchema, { events });
}

function sizeOf(event: BotEvent): number {
  return toBinary(BotEventSchema, event).length + EVENT_OVERHEAD;
}
