// The bare protocol: a whole bot without the SDK. It plays at random.

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import {
  type BotEventSchema,
  PlayRequestSchema,
  type PlayResponse,
  PlayResponseSchema,
} from "botarena/protocol";

const client = new Client(process.env.ARENA_ADDRESS ?? "", credentials.createInsecure());
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${process.env.ARENA_TOKEN}`);
const call = client.makeBidiStreamRequest(
  "/botarena.v1.PlayService/Play",
  (event: MessageInitShape<typeof BotEventSchema>["event"]) =>
    Buffer.from(toBinary(PlayRequestSchema, create(PlayRequestSchema, { events: [{ event }] }))),
  (bytes) => fromBinary(PlayResponseSchema, bytes),
  metadata,
);
call.write({ case: "hello", value: {} });
call.on("data", ({ events }: PlayResponse) => {
  for (const { event } of events) {
    if (event.case === "setOffered") call.write({ case: "ready", value: { offerId: event.value.offerId } });
    if (event.case === "ping") call.write({ case: "pong", value: { nonce: event.value.nonce } });
    if (event.case !== "decisionRequested") continue;
    const { gameId, decisionId, legal } = event.value;
    const value = legal[Math.floor(Math.random() * legal.length)]?.id ?? 0;
    call.write({ case: "act", value: { gameId, decisionId, choice: { case: "actionId", value } } });
  }
});
