import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';
import { lockList } from '../lock-list.ts';

/** A sender whose remote images are always shown. */
export interface ImageSender {
  /** lower case */
  address: string;
  createdAt: Date;
}

/** Returns all of the workspace, by address. */
export async function listImageSenders(transaction: Transaction<Tables>, workspaceId: string): Promise<ImageSender[]> {
  const { rows } = await sql<{ address: string; created_at: Date }>`
    select s.address, s.created_at from image_sender s where s.workspace_id = ${workspaceId} order by s.address`.execute(
    transaction,
  );
  return rows.map(toSender);
}

/** Returns whether the address, in lower case, is among them. */
export async function isImageSender(
  transaction: Transaction<Tables>,
  workspaceId: string,
  address: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from image_sender s where s.workspace_id = ${workspaceId} and s.address = ${address}`.execute(transaction);
  return rows.length > 0;
}

/** Adds a sender, or returns the one that exists. Returns null if the workspace has `most` others. */
export async function insertImageSender(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { address, createdAt }: ImageSender,
  most: number,
): Promise<ImageSender | null> {
  await lockList(transaction, workspaceId, 'image_sender');
  const { rows } = await sql<{ address: string; created_at: Date }>`
    insert into image_sender as s (workspace_id, address, created_at)
    select ${workspaceId}, ${address}, ${createdAt}::timestamptz
    where (select count(*) from image_sender o where o.workspace_id = ${workspaceId} and o.address <> ${address}) < ${most}
    on conflict (workspace_id, address) do update set address = excluded.address
    returning s.address, s.created_at`.execute(transaction);
  return rows[0] === undefined ? null : toSender(rows[0]);
}

/** Returns whether the workspace had this sender. */
export async function deleteImageSender(
  transaction: Transaction<Tables>,
  workspaceId: string,
  address: string,
): Promise<boolean> {
  const { rows } = await sql`
    delete from image_sender s where s.workspace_id = ${workspaceId} and s.address = ${address} returning 1`.execute(
    transaction,
  );
  return rows.length > 0;
}

function toSender({ address, created_at: createdAt }: { address: string; created_at: Date }): ImageSender {
  return { address, createdAt };
}
