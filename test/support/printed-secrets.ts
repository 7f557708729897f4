import { createHash } from 'node:crypto';
import { type Secret, type SecretKind, SHORTEST_SECRET } from './kept-logs.ts';

/** Where secrets stand in requests, responses, mails, and in what programs print. */
const PLACES: [SecretKind, RegExp][] = [
  ['API key', /\bauthorization: bearer ([\w.~+/=-]{12,})/gi],
  ['API key', /"(?:apiKey|secret)":\s*"([^"\\]{12,})"/g],
  ['API key', /^ *API key {3}(\S{12,})/gm],
  ['session cookie', /\bpostroom\.session_token=([^;\s"]{12,})/g],
  ['password', /"(?:password|newPassword|currentPassword)":\s*"([^"\\]{12,})"/g],
  // The last of it may be quoted-printable in a mail.
  ['one-time link', /\/(?:sign-in\/link#|reset-password#token=(?:3D)?)([\w-]{12,})/g],
  ['webhook secret', /\b(whsec_[A-Za-z0-9+/=]{12,})/g],
  ['verification token', /"verificationToken":\s*"([^"\\]{12,})"/g],
];

/** Parts of a mail, as requests have them. */
const BODY_FIELD = /"(?:text|html|textBody|htmlBody|content)":\s*"((?:[^"\\]|\\.){24,})"/g;

/** Variables of the product that are secret; a URL of its own may hold a password. The machine's own environment is nobody's business. */
const SECRET_VARIABLE =
  /^(?:SECRET_KEY|SECRET_KEY_PREVIOUS|GUARD_MODEL_KEY|OIDC_CLIENT_SECRET|RSPAMD_CONTROLLER_KEY|POSTGRES_PASSWORD|NATS_[A-Z]+_PASSWORD)$/;
const URL_VARIABLE = /^(?:DATABASE|NATS|OUTBOUND_RELAY)_URL$/;

/** The secrets in what two programs say to each other or a program prints. */
export function secretsIn(text: string): Secret[] {
  const told = PLACES.flatMap(([kind, place]) =>
    [...text.matchAll(place)].map(([, value = '']): Secret => ({ kind: readKind(kind, value), value })),
  );
  return told.flatMap(({ kind, value }) => [{ kind, value }, ...listForms(kind, value)]);
}

/** The bodies of mails that a request in JSON asks to be sent. */
export function bodiesIn(request: string): Secret[] {
  return [...request.matchAll(BODY_FIELD)].flatMap(([, escaped = '']) => bodyLines(unescaped(escaped)));
}

/** The secrets that a program is given by its environment (`NAME=value`) and its words. */
export function secretsGiven(environment: readonly string[], words: readonly string[]): Secret[] {
  const named = environment.flatMap((pair): Secret[] => {
    const mark = pair.indexOf('=');
    const [name, value] = [pair.slice(0, mark), pair.slice(mark + 1)];
    if (SECRET_VARIABLE.test(name))
      return [{ kind: name === 'SECRET_KEY' ? 'SECRET_KEY' : 'password of a server', value }];
    if (!URL_VARIABLE.test(name)) return [];
    return [...value.matchAll(/:\/\/[^\s:/@]*:([^\s/@]+)@/g)].flatMap(([, password = '']): Secret[] =>
      [password, decodeURIComponent(password)].map((value) => ({ kind: 'password of a server', value })),
    );
  });
  const after = (flag: string) => (words.includes(flag) ? (words[words.indexOf(flag) + 1] ?? '') : '');
  const key = after('--key');
  return [
    ...named,
    { kind: 'password', value: after('--password') },
    { kind: 'API key', value: key },
    ...listForms('API key', key),
  ];
}

/**
 * Lines of a body (of all of it, RFC 5322 §2.3) that can stand nowhere by chance: two from its beginning and the last. Words that a
 * header section of a part could have, and what is written otherwise in JSON, are none. Latin-1 in, Latin-1 out.
 */
export function bodyLines(body: string): Secret[] {
  const lines = body
    .split(/\r?\n/)
    .filter((line) => !/^(?:[\w-]+:|--|[ \t])/.test(line))
    .flatMap((line) => line.split(/[<>"\\&={}[\]@]|[^\x20-\x7e\x80-\xff]/))
    .map((line) => line.trim().slice(0, 120))
    .filter((line) => (line.length >= 16 && line.split(' ').length > 3) || /^[A-Za-z0-9+/]{48,}$/.test(line))
    .filter((line) => new Set(line).size > 7);
  return [...new Set([...lines.slice(0, 2), ...lines.slice(-1)])].map((value) => ({ kind: 'mail body', value }));
}

/** Collects the bodies from the bytes of one direction of an SMTP connection; reports (RFC 6522) say what logs say, in the same words. */
export class BodyCollector {
  #isInData = false;
  #isInBody = false;
  #isReport = false;

  /** Takes the next bytes as Latin-1; returns what they tell. */
  take(text: string): Secret[] {
    if (!this.#isInData) {
      this.#isInData = /(?:^|\r\n)DATA\r\n$/i.test(text);
      this.#isInBody = false;
      this.#isReport = false;
      return [];
    }
    const bodyStart = this.#isInBody ? 0 : text.indexOf('\r\n\r\n');
    this.#isReport ||= !this.#isInBody && /^content-type: multipart\/report\b/im.test(text);
    this.#isInBody ||= bodyStart !== -1;
    this.#isInData = !/(?:^|\r\n)\.\r\n$/.test(text);
    return this.#isInBody && !this.#isReport ? bodyLines(text.slice(bodyStart)) : [];
  }
}

function readKind(kind: SecretKind, value: string): SecretKind {
  return value.startsWith('whsec_') ? 'webhook secret' : kind;
}

/** What is made of a secret and tells as much. */
function listForms(kind: SecretKind, value: string): Secret[] {
  if (value.length < SHORTEST_SECRET) return [];
  if (kind === 'session cookie') {
    const [token = ''] = value.split('.');
    return [{ kind, value: token }];
  }
  if (kind !== 'API key') return [];
  const hash = createHash('sha256').update(value).digest();
  return [{ kind: 'hash of an API key', value: hash.toString('hex') }];
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return '';
  }
}
