import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { Misconfigured } from "./errors.js";

const UNIX = "unix:";
const FIRST_PATIENCE_MS = 30_000;
const SOCKET_PATIENCE_MS = 60_000;

/** Where the arena is: `host:port` or `unix:path`. */
export class Target {
  private constructor(
    readonly text: string,
    /** Whether TLS is spoken there. */
    readonly tls: boolean,
    /** Whom to trust, in PEM, instead of Node's list. */
    readonly ca?: Buffer,
  ) {}

  /**
   * TLS everywhere but on this machine, unless `insecure`; with a `ca`, the path of a PEM file, there too. Throws
   * Misconfigured, saying what would be right.
   */
  static parse(address: string, { insecure = false, ca = "" } = {}): Target {
    const text = address.trim();
    if (insecure && ca) throw new Misconfigured("--insecure means no TLS and --ca means TLS: choose one");
    if (!text) throw new Misconfigured("no address: set ARENA_ADDRESS or --address, e.g. localhost:7700");
    if (text.startsWith(UNIX)) {
      if (text === UNIX)
        throw new Misconfigured("unix: needs the path of a socket, e.g. unix:/run/arena.sock");
      return new Target(text, false);
    }
    const [, host, port] = /^([^/:]+|\[[^/\]]+\]):(\d{1,5})$/.exec(text) ?? [];
    if (!host || Number(port) < 1 || Number(port) > 65535) {
      const right = "write host:port, e.g. localhost:7700, or unix:/path";
      throw new Misconfigured(`${JSON.stringify(text)} is no address: ${right}`);
    }
    if (ca) return new Target(text, true, readCa(ca));
    return new Target(text, !insecure && !isLoopback(host));
  }

  /** Who can open a socket file has been let in by the file system. */
  get needsToken(): boolean {
    return !this.isSocket;
  }

  get credentials(): ChannelCredentials {
    return this.tls ? credentials.createSsl(this.ca) : credentials.createInsecure();
  }

  /**
   * How long nothing may answer before the process gives up. A socket file belongs to a server on this machine: where
   * that is gone, its bots must not stay behind for ever.
   */
  patienceMs(connectedBefore: boolean): number {
    if (!connectedBefore) return FIRST_PATIENCE_MS;
    return this.isSocket ? SOCKET_PATIENCE_MS : Number.POSITIVE_INFINITY;
  }

  private get isSocket(): boolean {
    return this.text.startsWith(UNIX);
  }
}

function readCa(path: string): Buffer {
  let pem: Buffer;
  try {
    pem = readFileSync(path);
  } catch (error) {
    throw new Misconfigured(`cannot read the CA ${path}: ${(error as Error).message}`);
  }
  if (!pem.includes("-----BEGIN CERTIFICATE-----"))
    throw new Misconfigured(`the CA ${path} holds no certificate in PEM`);
  return pem;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}
