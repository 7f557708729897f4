import { hash } from 'node:crypto';
import { storableText } from '../../shared/text.ts';

/** Why mail was refused before it was accepted. */
export const DOOR_REASONS = [
  'unknown_recipient',
  'unknown_domain',
  'unavailable',
  'early_talker',
  'own_name',
  'sender_domain',
  'block_list',
  'greylist',
  'dmarc',
  'connection_rate',
  'message_rate',
  'content',
] as const;
export type DoorReason = (typeof DOOR_REASONS)[number];

/** Days that refusals are kept; also in db/migrations/0001-initial/upkeep.sql. */
export const REFUSAL_DAYS = 7;
/** The owner of refusals that belong to no workspace: no ID of a workspace begins with `-`. */
export const OPERATOR = '-operator';

/** A refusal, or several of the same kind within an hour. */
export interface DoorRefusal {
  /** the workspace of the recipient; null: the recipient is of no workspace, or is not known yet */
  workspaceId: string | null;
  reason: DoorReason;
  /** of the client */
  address: string;
  /** as `doorNetwork` writes it; null: of several */
  network: string | null;
  /** what the client called itself */
  helo: string | null;
  /** the reverse-path, empty for bounces; null: of several, or not known yet */
  sender: string | null;
  /** null: of several, or not known yet */
  recipient: string | null;
  /** the reply, with its code */
  reply: string;
  times: number;
  at: Date;
}

/** A refusal as it is stored: those with the same ID are counted in one row. */
export interface StoredDoorRefusal extends Omit<DoorRefusal, 'workspaceId'> {
  workspaceId: string;
  id: string;
  /** start of the hour */
  hourAt: Date;
}

/** Characters of each text that are kept. */
const MAX_TEXT = 320;
const HOUR_MS = 3_600_000;

/** Returns the refusal with the ID under which it is counted: that of its workspace, hour, reason, network, sender and recipient. */
export function toStoredRefusal(refusal: DoorRefusal): StoredDoorRefusal {
  const workspaceId = refusal.workspaceId ?? OPERATOR;
  const hourAt = new Date(Math.floor(refusal.at.getTime() / HOUR_MS) * HOUR_MS);
  const [sender, recipient, helo] = [refusal.sender, refusal.recipient, refusal.helo].map(cut);
  const key = JSON.stringify([workspaceId, refusal.reason, refusal.network, sender, recipient]);
  const time = hourAt.getTime().toString(16).padStart(12, '0');
  const id = `rfs_${time}7${hash('sha256', key, 'hex').slice(0, 19)}`;
  return {
    ...refusal,
    workspaceId,
    id,
    hourAt,
    helo: helo ?? null,
    sender: sender ?? null,
    recipient: recipient ?? null,
    address: refusal.address.slice(0, MAX_TEXT),
    reply: cut(refusal.reply) ?? '',
  };
}

/** Controls, and characters that change the direction of what follows: a name is shown as it is. */
// oxlint-disable-next-line no-control-regex -- they are what is replaced
const MISLEADING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function cut(text: string | null): string | null {
  return text === null ? null : storableText(text.slice(0, MAX_TEXT)).replaceAll(MISLEADING, '\ufffd');
}

/** How many rows there are already, of one workspace in one hour. */
export interface RefusalRoom {
  workspaceId: string;
  hourAt: Date;
  /** rows by network; '' for those of several networks */
  rows: Readonly<Record<string, number>>;
}

/** Rows of one workspace, hour and network; further refusals are counted in one row per reason. */
export const MAX_ROWS_OF_NETWORK = 20;
/** Rows of one workspace and hour; further refusals are counted in one row per reason. */
export const MAX_ROWS_OF_HOUR = 500;
/** The same for the operator, who has what belongs to no workspace. */
export const MAX_OPERATOR_ROWS_OF_HOUR = 2_000;

/**
 * Returns the rows to store, without two of the same ID. Beyond the limits, refusals lose their sender and recipient, and then their network,
 * so that a client cannot fill the table. `known` are the IDs that are stored already: they need no room.
 */
export function boundRefusals(
  refusals: readonly StoredDoorRefusal[],
  known: ReadonlySet<string>,
  rooms: readonly RefusalRoom[],
): StoredDoorRefusal[] {
  const counts = new Map(
    rooms.map(({ workspaceId, hourAt, rows }) => [roomKey(workspaceId, hourAt), new Map(Object.entries(rows))]),
  );
  const bounded = new Map<string, StoredDoorRefusal>();
  const add = (refusal: StoredDoorRefusal): void => {
    const present = bounded.get(refusal.id);
    if (present === undefined) bounded.set(refusal.id, refusal);
    else {
      const [earlier, later] = present.at <= refusal.at ? [present, refusal] : [refusal, present];
      bounded.set(refusal.id, { ...later, hourAt: earlier.hourAt, times: earlier.times + later.times });
    }
  };
  for (const refusal of refusals) {
    const key = roomKey(refusal.workspaceId, refusal.hourAt);
    const ofHour = counts.get(key) ?? new Map<string, number>();
    counts.set(key, ofHour);
    const isPresent = (one: StoredDoorRefusal) => known.has(one.id) || bounded.has(one.id);
    if (isPresent(refusal)) {
      add(refusal);
      continue;
    }
    const network = refusal.network ?? '';
    const total = [...ofHour.values()].reduce((sum, rows) => sum + rows, 0);
    const maxTotal = refusal.workspaceId === OPERATOR ? MAX_OPERATOR_ROWS_OF_HOUR : MAX_ROWS_OF_HOUR;
    const isOver = total >= maxTotal;
    if (!isOver && (ofHour.get(network) ?? 0) < MAX_ROWS_OF_NETWORK) {
      ofHour.set(network, (ofHour.get(network) ?? 0) + 1);
      add(refusal);
      continue;
    }
    const merged = toStoredRefusal({
      ...refusal,
      workspaceId: refusal.workspaceId,
      network: isOver ? null : refusal.network,
      sender: null,
      recipient: null,
      helo: null,
    });
    // One row per reason and network, or per reason: what merges is beyond the limits, and bounded by them.
    if (!isPresent(merged)) ofHour.set(merged.network ?? '', (ofHour.get(merged.network ?? '') ?? 0) + 1);
    add(merged);
  }
  return [...bounded.values()];
}

function roomKey(workspaceId: string, hourAt: Date): string {
  return `${workspaceId} ${hourAt.getTime()}`;
}
