import { defineEntity, p } from '@mikro-orm/core';

/**
 * postroom_now() decides what is due; only tests change the offset. It is slow: for many rows write (select postroom_now()), which is
 * evaluated once per statement.
 */
export const ClockSchema = defineEntity({
  name: 'Clock',
  tableName: 'clock',
  properties: {
    id: p.boolean().default(true).primary(),
    shift: p.text().columnType('interval').defaultRaw(`'00:00:00'`),
  },
  checks: [{ name: 'clock_id_check', expression: 'id' }],
});

/** A ciphertext that shows at startup whether SECRET_KEY is the one that encrypted the stored secrets. */
export const SecretCanarySchema = defineEntity({
  name: 'SecretCanary',
  tableName: 'secret_canary',
  properties: {
    keyId: p.text().primary(),
    ciphertext: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

export const DeadRowSchema = defineEntity({
  name: 'DeadRow',
  tableName: 'dead_row',
  properties: {
    workspaceId: p.text().primary(),
    /** the step, see db/queries/upkeep/dead-row.ts */
    step: p.text().primary(),
    /** the actor of the step */
    actor: p.text(),
    /** the id of the row: of an email, a delivery or a recipient */
    subjectId: p.text().primary(),
    /** number of failed attempts in a row */
    tries: p.smallint(),
    lastError: p.text(),
    firstFailedAt: p.datetime(3),
    lastFailedAt: p.datetime(3),
    /** time of the next attempt; infinity: dead */
    retryAt: p.datetime().columnType('timestamptz'),
    /** since when it is dead; null: it is retried */
    deadAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'dead_row_dead', properties: ['deadAt'], where: 'dead_at IS NOT NULL' },
    // Every claim checks whether any row of its step is set aside.
    { name: 'dead_row_step', properties: ['step', 'retryAt'] },
  ],
});

/** Retention settings of workspaces; without a row, the defaults of the service apply (RETENTION_*). null: forever. See core/upkeep/retention.ts. */
export const RetentionSchema = defineEntity({
  name: 'Retention',
  tableName: 'retention',
  properties: {
    workspaceId: p.text().primary(),
    rawDays: p.integer().nullable(),
    bodyDays: p.integer().nullable(),
    metadataDays: p.integer().nullable(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  checks: [
    { name: 'retention_body_days_check', expression: '((body_days >= 1) AND (body_days <= 36500))' },
    { name: 'retention_check', expression: '(raw_days <= body_days)' },
    { name: 'retention_check1', expression: '(body_days <= metadata_days)' },
    { name: 'retention_check2', expression: '(raw_days <= metadata_days)' },
    { name: 'retention_metadata_days_check', expression: '((metadata_days >= 1) AND (metadata_days <= 36500))' },
    { name: 'retention_raw_days_check', expression: '((raw_days >= 1) AND (raw_days <= 36500))' },
  ],
});
export class Retention extends RetentionSchema.class {}
RetentionSchema.setClass(Retention);

/**
 * One row per workspace with a retention limit: the claimant, and the position up to which raw messages, bodies and receptions without an email
 * were checked. From time to time the sweep starts over, for rows that were being processed when it passed them.
 */
export const RetentionSweepSchema = defineEntity({
  name: 'RetentionSweep',
  tableName: 'retention_sweep',
  properties: {
    workspaceId: p.text().primary(),
    dueAt: p.datetime().columnType('timestamptz'),
    beginsAnewAt: p.datetime().columnType('timestamptz'),
    rawAt: p.datetime(3).nullable(),
    bodiesAt: p.datetime(3).nullable(),
    receptionId: p.text().nullable(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'retention_sweep_due', properties: ['dueAt'] }],
});
