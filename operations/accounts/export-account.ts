import type pg from 'pg';
import type { Origin } from '../../core/accounts/audit.ts';
import { WEBHOOK_FORMATS } from '../../core/endpoints/endpoint-config.ts';
import { decryptSecret, type SecretPurpose } from '../../core/shared/secret-box.ts';
import type { Database } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import {
  beginExport,
  EXPORTED_KINDS,
  type ExportedBytes,
  type ExportedKind,
  KEPT_BYTES_QUERY,
  readDocuments,
  readKeptBytes,
  readLargeDocument,
} from '../../db/queries/accounts/export-account.ts';
import { recordExport } from './audit-log.ts';

export interface AccountExport {
  workspaceId: string;
  /** who exports, for the audit log; absent: the operator */
  origin?: Origin;
  /** decrypts the secrets of endpoints and the private keys of domains; null leaves them out */
  secretKey: Uint8Array | null;
  /** Takes one part after the other; the next is read when it resolves. */
  write: (part: ExportPart) => Promise<void>;
}

/** A part of a file, in the order of the file. Its pieces must be taken before `write` resolves. */
interface ExportPart extends ExportedBytes {
  /** path in the export, such as `emails.jsonl` or `mail/2026-11/em_1.eml` */
  path: string;
  /** 1 for the first part; only `.jsonl` files have more than one */
  number: number;
}

/** What was written. */
export interface ExportCounts {
  documents: number;
  messages: number;
}

/** Size above which the lines of a file become a part. A larger document is a part of its own, which is read while it is written. Bytes. */
const PART_BYTES = 1_000_000;

/**
 * Writes all data of the account: documents as JSON lines, raw messages byte for byte, and last `README.md`, so that an export without it is
 * recognized as incomplete. Everything is read in one transaction, so it is from the same instant, and at most about two parts of PART_BYTES are
 * in memory, however large the messages are.
 */
export async function exportAccount(database: Database, request: AccountExport): Promise<ExportCounts> {
  const counts = { documents: 0, messages: 0 };
  const { workspaceId, origin } = request;
  await recordExport(database, { workspaceId, origin, at: new Date(), kind: 'account' });
  await inTransaction(database, async (client) => {
    await beginExport(client, request.workspaceId);
    for (const kind of EXPORTED_KINDS) counts.documents += await exportDocuments(client, kind, request);
    counts.messages = await exportMessages(client, request);
  });
  const readme = Buffer.from(makeReadme(request.secretKey !== null));
  await request.write({ path: 'README.md', number: 1, sizeBytes: readme.length, pieces: [readme] });
  return counts;
}

async function exportDocuments(
  client: pg.ClientBase,
  kind: ExportedKind,
  { workspaceId, secretKey, write }: AccountExport,
): Promise<number> {
  let count = 0;
  let number = 0;
  let lines: Buffer[] = [];
  let sizeBytes = 0;
  const flush = async () => {
    const part = { path: kind.file, number: ++number, sizeBytes, pieces: lines };
    lines = [];
    sizeBytes = 0;
    await write(part);
  };
  const add = async (line: Buffer) => {
    lines.push(line);
    sizeBytes += line.length;
    count++;
    if (sizeBytes >= PART_BYTES) await flush();
  };
  if ('query' in kind)
    await readDocuments(client, kind, workspaceId, (document) =>
      add(Buffer.from(`${JSON.stringify(shown(document, secretKey))}\n`)),
    );
  else
    await readDocuments(client, { query: kind.idQuery }, workspaceId, async ({ id }) => {
      const document = await readLargeDocument(client, kind, workspaceId, String(id));
      if (document === null) return;
      const line = { sizeBytes: document.sizeBytes + 1, pieces: withLineEnd(document.pieces) };
      if (line.sizeBytes < PART_BYTES) return add(await joinPieces(line.pieces));
      if (lines.length > 0) await flush();
      await write({ path: kind.file, number: ++number, ...line });
      count++;
    });
  if (lines.length > 0 || number === 0) await flush();
  return count;
}

async function* withLineEnd(pieces: ExportedBytes['pieces']): AsyncGenerator<Buffer, void> {
  yield* pieces;
  yield Buffer.from('\n');
}

async function joinPieces(pieces: ExportedBytes['pieces']): Promise<Buffer> {
  const joined: Buffer[] = [];
  for await (const piece of pieces) joined.push(piece);
  return Buffer.concat(joined);
}

/** One folder per month: a folder with a million files is unusable. */
async function exportMessages(client: pg.ClientBase, { workspaceId, write }: AccountExport): Promise<number> {
  let count = 0;
  await readDocuments(client, { query: KEPT_BYTES_QUERY }, workspaceId, async ({ emailId, createdAt }) => {
    const bytes = await readKeptBytes(client, workspaceId, String(emailId));
    if (bytes === null) return;
    const month = String(createdAt).slice(0, 'yyyy-mm'.length);
    await write({ path: `mail/${month}/${String(emailId)}.eml`, number: 1, ...bytes });
    count++;
  });
  return count;
}

/** Returns encrypted secrets as plain text, or leaves them out. Configurations contain some too. */
function shown(document: Record<string, unknown>, secretKey: Uint8Array | null): Record<string, unknown> {
  const { secret_ciphertext: secret, private_key_ciphertext: privateKey, config, ...rest } = document;
  return {
    ...rest,
    ...(config === undefined
      ? {}
      : { config: secretKey === null ? withoutSecrets(config, document['webhook_format']) : config }),
    ...(secretKey === null ? {} : inClear(secretKey, 'webhook-secret', 'secret', secret)),
    ...(secretKey === null ? {} : inClear(secretKey, 'dkim-key', 'private_key', privateKey)),
  };
}

function inClear(secretKey: Uint8Array, purpose: SecretPurpose, name: string, ciphertext: unknown) {
  return typeof ciphertext === 'string' ? { [name]: decryptSecret(secretKey, purpose, ciphertext) } : {};
}

/** Header fields of webhooks often contain tokens, and the URL of a chat webhook is itself a secret, of which only the origin is kept. */
function withoutSecrets(config: unknown, webhookFormat: unknown): unknown {
  if (typeof config !== 'object' || config === null) return config;
  const { headers, verificationToken: _, ...others } = config as Record<string, unknown>;
  const isOfChat = WEBHOOK_FORMATS.some((format) => format !== 'native' && format === webhookFormat);
  const rest = isOfChat && 'url' in others ? { ...others, url: findOrigin(others['url']) } : others;
  const names = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
  return names.length === 0 ? rest : { ...rest, headers: Object.fromEntries(names.map((name) => [name, null])) };
}

function findOrigin(url: unknown): string | null {
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  return parsed === null ? null : parsed.origin;
}

const makeReadme = (hasSecrets: boolean) => `# Export of a Postroom account

Everything here is of one instant. Each \`.jsonl\` file holds one JSON object on each line; instants are ISO 8601, ids are those of the service.

- \`account.jsonl\`, \`api-keys.jsonl\` (no key itself), \`domains.jsonl\`, \`dkim-keys.jsonl\`, \`addresses.jsonl\`, \`endpoints.jsonl\`, \`guard-rules.jsonl\`, \`suppressions.jsonl\`, \`image-senders.jsonl\`, \`labels.jsonl\`
- \`threads.jsonl\`: conversations with their labels
- \`emails.jsonl\`: every email, received, sent and scheduled, with its bodies, header fields, verdicts, envelope and route
- \`recipients.jsonl\`, \`sending-attempts.jsonl\`: what became of sent mail at each recipient's server
- \`deliveries.jsonl\`, \`delivery-attempts.jsonl\`: webhooks and forwarded copies
- \`dmarc-reports.jsonl\`, \`events.jsonl\`
- \`NAME.2.jsonl\` and so on: the next parts of a long file, if the dashboard made the export
- \`mail/YEAR-MONTH/ID.eml\`: raw messages, byte for byte, with their attachments

${hasSecrets ? 'Secrets of endpoints and private keys of domains are in clear: keep this as you keep passwords.' : 'Secrets of endpoints and private keys of domains were left out, and all but the origin of the URLs of chat webhooks.'}
`;
