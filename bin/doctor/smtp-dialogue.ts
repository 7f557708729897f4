import type { X509Certificate } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

/** What a server said in a dialogue that delivers nothing. */
export interface SmtpDialogue {
  /** first line of its greeting */
  banner: string;
  /** EHLO keywords */
  keywords: string[];
  /** the result of STARTTLS; null if it is not offered */
  tls: {
    certificate: X509Certificate | null;
    isTrusted: boolean;
    reason: string | null;
    protocol: string | null;
  } | null;
  /** the reply to an unknown recipient; null if none was tried */
  recipient: string | null;
}

const LIMIT_MS = 15_000;

/** Talks to an SMTP server up to RCPT and then sends QUIT. Throws if it cannot be reached, refuses, or sends nothing for 15 s. */
export async function speakSmtp(target: {
  host: string;
  port: number;
  /** the name expected in the certificate */
  serverName: string;
  /** whether it treats this address as a proxy, which begins with a PROXY line */
  isProxied?: boolean;
  /** null: stops after EHLO */
  recipient: string | null;
}): Promise<SmtpDialogue> {
  const socket = connect({ host: target.host, port: target.port });
  if (target.isProxied === true) socket.write('PROXY UNKNOWN\r\n');
  let talk = talkOn(socket);
  try {
    const banner = await talk.read();
    if (!banner.startsWith('220')) throw new Error(`it greets with "${banner}"`);
    let keywords = listKeywords(await talk.say('EHLO doctor.invalid'));
    const isOffered = keywords.includes('STARTTLS');
    let tls: SmtpDialogue['tls'] = null;
    if (isOffered) {
      const response = await talk.say('STARTTLS');
      if (!response.startsWith('220')) throw new Error(`it offers STARTTLS but replies "${response}"`);
      const secure = await upgrade(socket, target.serverName);
      const trouble = secure.authorizationError as Error | string | null | undefined;
      tls = {
        certificate: secure.getPeerX509Certificate() ?? null,
        isTrusted: secure.authorized,
        reason:
          trouble === null || trouble === undefined ? null : String((trouble as Partial<Error>).message ?? trouble),
        protocol: secure.getProtocol(),
      };
      talk = talkOn(secure);
      await talk.say('EHLO doctor.invalid');
    }
    let recipient: string | null = null;
    if (target.recipient !== null) {
      const sender = await talk.say('MAIL FROM:<>');
      recipient = sender.startsWith('250') ? await talk.say(`RCPT TO:<${target.recipient}>`) : sender;
    }
    talk.end('QUIT');
    return { banner: banner.split('\n')[0] ?? '', keywords, tls, recipient };
  } finally {
    socket.destroy();
  }
}

interface Talk {
  read(): Promise<string>;
  say(line: string): Promise<string>;
  end(line: string): void;
}

function talkOn(socket: Socket): Talk {
  let text = '';
  let failure: Error | null = null;
  let tell: () => void = () => undefined;
  const fail = (error: Error) => {
    failure ??= error;
    tell();
  };
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error(`it sent nothing for ${LIMIT_MS / 1000} s`)));
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
    tell();
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('it closed the connection')));
  const read = async () => {
    for (;;) {
      const reply = /^(?:\d{3}-[^\r\n]*\r?\n)*\d{3}(?: [^\r\n]*)?\r?\n/.exec(text);
      if (reply !== null) {
        text = text.slice(reply[0].length);
        return reply[0].replaceAll('\r', '').trimEnd();
      }
      if (failure !== null) throw failure;
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
  };
  return {
    read,
    say(line) {
      socket.write(`${line}\r\n`);
      return read();
    },
    end: (line) => void socket.end(`${line}\r\n`),
  };
}

function listKeywords(reply: string): string[] {
  return reply.split('\n').map((line) => (line.slice(4).split(' ')[0] ?? '').toUpperCase());
}

function upgrade(socket: Socket, serverName: string): Promise<TLSSocket> {
  socket.removeAllListeners('data');
  return new Promise((resolve, reject) => {
    const secure = connectTls({ socket, servername: serverName, rejectUnauthorized: false }, () => resolve(secure));
    secure.once('error', (cause: Error) => reject(new Error(`TLS failed: ${cause.message}`, { cause })));
    socket.once('close', () => reject(new Error('it closed the connection in the TLS handshake')));
  });
}
