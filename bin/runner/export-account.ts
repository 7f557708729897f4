import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { WEBHOOK_FORMATS } from '../../core/endpoints/endpoint-config.ts';
import { decryptSecret, type SecretPurpose } from '../../core/shared/secret-box.ts';
import { type Database } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import {
  EXPORTED_KINDS,
  KEPT_BYTES_QUERY,
  readDocuments,
  readKeptBytes,
} from '../../db/queries/accounts/export-account.ts';

export interface AccountExport {
  userId: string;
  /** created if missing; must be empty */
  directory: string;
  /** decrypts the secrets of endpoints and the private keys of domains; null leaves them out */
  secretKey: Uint8Array | null;
}

/** What was written. */
export interface ExportCounts {
  documents: number;
  messages: number;
}

/** Readable only by the user that runs the process. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Writes all data of the account to files: documents as JSON lines, raw messages byte for byte. Everything is read in one transaction, so
 * it is from the same instant, and only a few documents are in memory at a time. Throws if the directory is not empty.
 */
export async function exportAccount(
  database: Database,
  { userId, directory, secretKey }: AccountExport,
): Promise<ExportCounts> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty`);
  const counts = { documents: 0, messages: 0 };
  await inTransaction(database, async (client) => {
    // No time limit: disks may be slow.
    await client.query(
      'set transaction isolation level repeatable read, read only; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0',
    );
    for (const kind of EXPORTED_KINDS) {
      const handle = await open(path.join(directory, kind.file), 'wx', FILE_MODE);
      try {
        await readDocuments(client, kind, userId, async (document) => {
          await handle.appendFile(`${JSON.stringify(shown(document, secretKey))}\n`);
          counts.documents++;
        });
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
    counts.messages = await exportMessages(client, userId, directory);
  });
  // Last, so that a directory without it is recognized as incomplete.
  await writeFile(path.join(directory, 'README.md'), readmeOf(secretKey !== null), { mode: FILE_MODE });
  return counts;
}

/** One folder per month: a folder with a million files is unusable. */
async function exportMessages(client: pg.ClientBase, userId: string, directory: string): Promise<number> {
  let count = 0;
  let month = '';
  await readDocuments(client, { query: KEPT_BYTES_QUERY }, userId, async ({ emailId, rawId, createdAt }) => {
    const folder = path.join(directory, 'mail', String(createdAt).slice(0, 'yyyy-mm'.length));
    if (folder !== month) await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE });
    month = folder;
    const bytes = await readKeptBytes(client, String(rawId));
    if (bytes === null) return;
    await writeFile(path.join(folder, `${String(emailId)}.eml`), bytes, { flag: 'wx', mode: FILE_MODE });
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
  const rest = isOfChat && 'url' in others ? { ...others, url: originOf(others['url']) } : others;
  const names = typeof headers === 'object' && headers !== null ? Object.keys(headers) : [];
  return names.length === 0 ? rest : { ...rest, headers: Object.fromEntries(names.map((name) => [name, null])) };
}

function originOf(url: unknown): string | null {
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  return parsed === null ? null : parsed.origin;
}

const readmeOf = (hasSecrets: boolean) => `# Export of a Postroom account

Everything here is of one instant. Each \`.jsonl\` file holds one JSON object on each line; instants are ISO 8601, ids are those of the service.

- \`account.jsonl\`, \`api-keys.jsonl\` (no key itself), \`domains.jsonl\`, \`dkim-keys.jsonl\`, \`addresses.jsonl\`, \`endpoints.jsonl\`, \`guard-rules.jsonl\`, \`suppressions.jsonl\`, \`labels.jsonl\`
- \`threads.jsonl\`: conversations with their labels
- \`emails.jsonl\`: every email, received, sent and scheduled, with its bodies, header fields, verdicts, envelope and route
- \`recipients.jsonl\`, \`sending-attempts.jsonl\`: what became of sent mail at each recipient's server
- \`deliveries.jsonl\`, \`delivery-attempts.jsonl\`: webhooks and forwarded copies
- \`dmarc-reports.jsonl\`, \`events.jsonl\`
- \`mail/YEAR-MONTH/ID.eml\`: raw messages, octet for octet, attachments in them

${hasSecrets ? 'Secrets of endpoints and private keys of domains are in clear: keep this as you keep passwords.' : 'Secrets of endpoints and private keys of domains were left out, and all but the origin of the URLs of chat webhooks.'}
`;
