/** The part of Haraka 3.3.4 that this folder uses; Haraka ships no types. */

declare module 'haraka/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Server as NetServer, Socket } from 'node:net';

  /** An address of the envelope (RFC 5321 §4.1.2). */
  export interface EnvelopeAddress {
    /** local-part as it was written, quotes included; empty for the null reverse-path */
    user: string;
    /** lower case, A-labels; empty for the bare `postmaster` */
    host: string;
  }

  export interface Transaction {
    uuid: string;
    mail_from: EnvelopeAddress | null;
    /** the recipient being decided is the last */
    rcpt_to: EnvelopeAddress[];
    data_bytes: number;
    message_stream: { destroy(): void };
  }

  /** What a PROXY protocol line says. */
  export interface ProxyLine {
    proto: string;
    src_ip: string;
    src_port: string;
    dst_ip: string;
    dst_port: string;
  }

  /** The client's socket, plain or after STARTTLS; with TLS from the start it is a socket itself. */
  export interface ClientSocket extends EventEmitter {
    targetsocket?: Socket;
    write(text: string): boolean;
    pause(): void;
    resume(): void;
    destroy(): void;
    upgrade(done: (verified: boolean, verifyError: unknown, certificate: unknown, cipher: unknown) => void): void;
  }

  export class Connection {
    uuid: string;
    client: ClientSocket;
    /** a value of haraka-constants `connection.state` */
    state: number;
    prev_state: number | null;
    /** what was read and not processed yet */
    current_data: Buffer | null;
    awaiting_data_reply: boolean;
    transaction: Transaction | null;
    remote: { ip: string };
    /** type: null until the line has arrived */
    proxy: { allowed: boolean; type: string | null };
    /** ip: the address to which the client connected, or the proxy's word for it */
    local: { host: string; ip: string | null };
    hello: { host: string | null; verb: string | null };
    tls: { enabled: boolean; advertised: boolean };
    /** the listener, whose port tells apart reception and submission */
    server: NetServer;
    /** whether Haraka lets it send to any domain */
    relaying: boolean;
    capabilities: string[];
    totalbytes: number;
    set(path: string, value: unknown): void;
    setTLS(tls: { cipher: unknown; verified: boolean; verifyError: unknown; peerCertificate: unknown }): void;
    respond(code: number, text: unknown, after?: () => void): unknown;
    disconnect(): void;
    reset_transaction(after?: () => void): void;
    resume(): void;
    process_line(line: Buffer): void;
    process_data(data: Buffer): void;
    apply_proxy(told: ProxyLine): void;
    _process_data(): void;
    data_done(): void;
    queue_respond(verdict: number, message: unknown): void;
    /** the hook in progress: its plugin, its method, and what gives it up */
    current_hook: [plugin: unknown, method: string, cancel: () => void] | null;
    logdata: () => void;
    logprotocol: () => void;
    logdebug: () => void;
    loginfo: () => void;
    lognotice: () => void;
  }

  export const cfg: { max: { bytes: number; line_length: number } };
}

declare module 'haraka/plugins.js' {
  import type { Connection } from 'haraka/connection.js';

  /** Haraka's continuation of a hook. */
  export type Callback = (verdict?: number, message?: unknown) => void;
  type Plugin = Record<string, (callback: Callback, connection: Connection, params: unknown) => void>;

  const plugins: {
    /** `object` is a session, the server or the logger */
    run_hooks(hook: string, object: unknown, params?: unknown): void;
    registered_hooks: Record<string, { plugin: string; method: string }[]>;
    registered_plugins: Record<string, Plugin>;
  };
  export default plugins;
}

declare module 'haraka/server.js' {
  import type { Server as NetServer } from 'node:net';
  import type { Server as TlsServer } from 'node:tls';
  export interface HarakaServer {
    cfg: { main: { listen: string; smtps_port: number; nodes: number; inactivity_timeout: number } };
    connection: { cfg: { haproxy: { enabled: boolean } } };
    notes: Record<string, unknown>;
    /** tlsServer: of a listener with TLS from the start that also takes PROXY lines */
    listeners: (NetServer & { has_tls?: boolean; tlsServer?: TlsServer })[];
    plugins: { server: HarakaServer; load_plugins(): void; Plugin: { prototype: { _compile(): void } } };
    setup_smtp_listeners(plugins: unknown, kind: 'child', inactivityMs: number): Promise<void>;
    stopListeners(): void;
  }
  const server: HarakaServer;
  export default server;
}

declare module 'haraka/tls_socket.js' {
  const tlsSocket: {
    certsByHost: { set(name: string, value: unknown): void };
    cfg: { main: { requireAuthorized: number[] } };
  };
  export default tlsSocket;
}

declare module 'haraka-net-utils' {
  import type { ProxyLine } from 'haraka/connection.js';

  const netUtils: {
    is_haproxy_allowed: (address: string) => boolean;
    /** null: not such an address */
    parse_proxy_line(line: string): ProxyLine | null;
  };
  export default netUtils;
}

declare module 'haraka-constants' {
  const constants: {
    cont: number;
    deny: number;
    denysoft: number;
    denydisconnect: number;
    denysoftdisconnect: number;
    ok: number;
    connection: {
      state: {
        CMD: number;
        LOOP: number;
        DATA: number;
        PAUSE: number;
        PAUSE_SMTP: number;
        PAUSE_DATA: number;
        DISCONNECTING: number;
        DISCONNECTED: number;
      };
    };
  };
  export default constants;
}
