import type pg from 'pg';
import { openBlock } from '../../core/search/segment/block.ts';
import { SegmentBuilder, type SegmentEmail } from '../../core/search/segment/build-segment.ts';
import { DamagedSegment } from '../../core/search/segment/bytes.ts';
import { mergeSegments, readDocuments, type SegmentParts } from '../../core/search/segment/merge-segments.ts';
import { type EncodedSegment, MAX_SEGMENT_DOCUMENTS, readBlock } from '../../core/search/segment/segment.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { finishSteps } from '../../db/queries/search/finish-steps.ts';
import { READ_AT_ONCE, type RunStatement, readSources } from '../../db/queries/search/unindexed-email.ts';
import * as segments from '../../db/queries/search/word-segment.ts';
import { searchMetrics } from '../../schema/metrics.ts';
import type { ActorContext, Run } from '../actor.ts';

/*
 * Puts the words of new emails into segments, and keeps these few. An account is due when it has many emails that are in no segment, or when
 * one has waited for a while; then it is claimed, and until nothing is left to do:
 * 1. rewrite: segments with emails that changed or were removed are replaced by segments without them, once there are many of these or one
 *    has waited for long; then the changed ones are new;
 * 2. build: new emails become a segment;
 * 3. merge: when there are MERGED_AT_ONCE segments of a size, they become one of the next size.
 * Each ends with one transaction that stores the new segment and retires the old ones. It is fenced by the rows that it replaces, so that a
 * builder that lost its claim stores nothing; killed before, it leaves nothing behind.
 */

/** Accounts that are claimed together. */
export const ACCOUNTS_BATCH = 10;
/** Emails of one segment when it is built, and their words together. */
const BUILT_EMAILS = 1_000;
const BUILT_WORDS = 500_000;
/** Changed and removed emails of one rewrite. */
const REWRITTEN_EMAILS = 20_000;
/** Segments of the same size that are merged. */
const MERGED_AT_ONCE = 8;
/**
 * Bytes of a segment that is merged from others: it is in memory several times meanwhile. 65,536 emails of 4 KB have about as many; mail whose words
 * are all different has fewer emails in it.
 */
const MERGED_BYTES = 32 * 1024 * 1024;
/** Emails up to which a segment is of a size: from 8 of one size comes one of the next, but of the last. */
const SIZES = [200, 1_600, 12_800, MAX_SEGMENT_DOCUMENTS / 2] as const;
/** Replaced segments that are removed at once. */
export const REMOVED_SEGMENTS = 100;

export interface BuildWordsOptions {
  limits?: segments.DueLimits;
  mergedBytes?: number;
  /** called at the points where fault tests kill the process */
  fault?: (
    point: 'words.claimed' | 'words.before-swap' | 'words.before-commit' | 'words.settling',
  ) => void | Promise<void>;
}

/** Builds what is due. Returns how many accounts were due: as many as ACCOUNTS_BATCH when there may be more. */
export async function buildWords(
  context: ActorContext,
  options: BuildWordsOptions,
  run: Pick<Run, 'isStopping'>,
): Promise<number> {
  const { database, name } = context;
  const limits = options.limits ?? segments.DUE_LIMITS;
  const workspaceIds = await segments.claimDueAccounts(database, name, limits, ACCOUNTS_BATCH);
  for (const workspaceId of workspaceIds) {
    await options.fault?.('words.claimed');
    await buildAccount({ ...context, ...options, limits }, workspaceId, run);
    await segments.releaseClaim(database, name, workspaceId);
  }
  return workspaceIds.length;
}

type BuildContext = ActorContext & BuildWordsOptions & { limits: segments.DueLimits };

async function buildAccount(context: BuildContext, workspaceId: string, run: Pick<Run, 'isStopping'>): Promise<void> {
  const { database, name, log } = context;
  let last: Work | null = null;
  while (!run.isStopping() && (await segments.extendClaim(database, name, workspaceId))) {
    const state = await segments.readBuildState(database.pool, workspaceId, {
      new: BUILT_EMAILS,
      changed: REWRITTEN_EMAILS,
    });
    const work = chooseWork(state, context, last);
    if (work === null) return;
    last = work;
    const end = searchMetrics.wordBuildSeconds.startTimer({ work: work.kind });
    try {
      await perform(context, workspaceId, state, work);
    } catch (error) {
      if (error instanceof segments.BuildSuperseded) return;
      if (!(error instanceof segments.SegmentDamage)) throw error;
      const count = await segments.discardSegment(database.pool, workspaceId, error.segmentId);
      searchMetrics.wordSegmentsDamaged.inc();
      log.error(
        { err: error.cause, workspaceId, segmentId: error.segmentId, emails: count },
        'search: damaged segment, building it again',
      );
    } finally {
      end();
    }
  }
}

type State = Awaited<ReturnType<typeof segments.readBuildState>>;
type Work =
  | { kind: 'rewrite'; changed: segments.UnindexedRow[] }
  | { kind: 'build'; emails: segments.UnindexedRow[] }
  | { kind: 'merge'; merged: segments.SegmentRow[] };

function chooseWork(
  { segments: stored, unindexed }: State,
  { limits, mergedBytes = MERGED_BYTES }: Pick<BuildContext, 'limits' | 'mergedBytes'>,
  last: Work | null,
): Work | null {
  const ofState = (wanted: segments.UnindexedRow['state']) => unindexed.filter(({ state }) => state === wanted);
  const isRewriteDue =
    isDue(ofState('changed'), limits.changedCount, limits.changedSeconds) ||
    isDue(ofState('gone'), limits.goneCount, limits.changedSeconds);
  if (isRewriteDue) return { kind: 'rewrite', changed: unindexed.filter(({ state }) => state !== 'new') };
  const emails = ofState('new');
  // What is left of a large tail is built with it.
  const isRest = last?.kind === 'build' && last.emails.length === BUILT_EMAILS;
  if (emails.length > 0 && (isRest || isDue(emails, limits.newCount, limits.newSeconds)))
    return { kind: 'build', emails };
  for (const [at, largest] of SIZES.entries()) {
    const ofSize = stored
      .filter(({ emailCount }) => emailCount <= largest && emailCount > (SIZES[at - 1] ?? 0))
      // Larger ones stay as they are: of those here, two fit into one.
      .filter(({ sizeBytes }) => sizeBytes <= mergedBytes / 2)
      .toSorted((one, other) => one.lastAt.getTime() - other.lastAt.getTime());
    const merged = takeFitting(ofSize, mergedBytes);
    if (merged.length === MERGED_AT_ONCE || (merged.length > 1 && merged.length < ofSize.length))
      return { kind: 'merge', merged };
  }
  return null;
}

function isDue(rows: readonly segments.UnindexedRow[], count: number, seconds: number): boolean {
  return rows.length >= count || rows.some(({ ageSeconds }) => ageSeconds >= seconds);
}

/** The first of the segments that fit into one; at most MERGED_AT_ONCE. */
function takeFitting(ofSize: readonly segments.SegmentRow[], mergedBytes: number): segments.SegmentRow[] {
  const taken: segments.SegmentRow[] = [];
  let count = 0;
  let bytes = 0;
  for (const segment of ofSize.slice(0, MERGED_AT_ONCE)) {
    count += segment.emailCount;
    bytes += segment.sizeBytes;
    if (count > MAX_SEGMENT_DOCUMENTS || bytes > mergedBytes) break;
    taken.push(segment);
  }
  return taken;
}

async function perform(context: BuildContext, workspaceId: string, state: State, work: Work): Promise<void> {
  switch (work.kind) {
    case 'rewrite':
      return rewrite(context, workspaceId, state, work.changed);
    case 'build':
      return build(context, workspaceId, work.emails);
    case 'merge': {
      const replaced = work.merged.map(({ id }) => id);
      return swap(
        context,
        { workspaceId, replaced, indexed: [] },
        await merge(context, workspaceId, replaced, () => false),
      );
    }
  }
}

/** Replaces each segment that has one of these emails by one without them. Until they are built again, searches read them themselves. */
async function rewrite(
  context: BuildContext,
  workspaceId: string,
  { segments: stored }: State,
  changed: readonly segments.UnindexedRow[],
): Promise<void> {
  const isChanged = new Set(changed.map(({ emailId }) => emailId));
  for (const { id, firstAt, lastAt } of stored) {
    if (!changed.some(({ createdAt }) => createdAt >= firstAt && createdAt <= lastAt)) continue;
    const parts = await readSegment(context, workspaceId, id, 'documents');
    const documents = segments.noteDamage(id, () => readDocuments(parts));
    if (!documents.some((document) => isChanged.has(document.id))) continue;
    const rewritten = await merge(context, workspaceId, [id], (emailId) => isChanged.has(emailId));
    await swap(context, { workspaceId, replaced: [id], indexed: [] }, rewritten);
  }
  const { database, name: claimant, fault } = context;
  await segments.settleChanged(database, { claimant, workspaceId, emailIds: [...isChanged] }, async () => {
    await fault?.('words.settling');
  });
}

/** Makes a segment of those of the emails that exist, as many as fit. */
async function build(
  context: BuildContext,
  workspaceId: string,
  rows: readonly segments.UnindexedRow[],
): Promise<void> {
  const builder = new SegmentBuilder();
  const read = new Set<string>();
  for (let first = 0; first < rows.length && builder.wordCount < BUILT_WORDS; first += READ_AT_ONCE) {
    const emailIds = rows.slice(first, first + READ_AT_ONCE).map(({ emailId }) => emailId);
    const emails: SegmentEmail[] = [];
    await readSources(runIn(context), workspaceId, { emailIds, isBodyWanted: true }, (email) => emails.push(email) > 0);
    const added = builder.size;
    await finishAll(builder.addAll(emails, BUILT_WORDS));
    for (const { id } of emails.slice(0, builder.size - added)) read.add(id);
  }
  const isWhole = builder.wordCount < BUILT_WORDS;
  const indexed = rows.filter(({ emailId }) => isWhole || read.has(emailId));
  const encoded = builder.size === 0 ? null : await finishAll(builder.finish());
  await swap(context, { workspaceId, replaced: [], indexed }, encoded);
}

async function merge(
  context: BuildContext,
  workspaceId: string,
  segmentIds: readonly string[],
  isGone: (emailId: string) => boolean,
): Promise<EncodedSegment | null> {
  const parts: SegmentParts[] = [];
  for (const id of segmentIds) parts.push(await readSegment(context, workspaceId, id, 'all'));
  try {
    return await finishAll(mergeSegments(parts, (_, emailId) => isGone(emailId)));
  } catch (error) {
    if (!(error instanceof DamagedSegment)) throw error;
    for (const [at, id] of segmentIds.entries()) segments.noteDamage(id, () => checkParts(parts[at]));
    throw error;
  }
}

function checkParts(parts: SegmentParts | undefined): void {
  if (parts === undefined) return;
  readDocuments(parts);
  for (const block of parts.blocks) for (const _ of readBlock(openBlock(block)));
}

async function readSegment(
  { database }: BuildContext,
  workspaceId: string,
  segmentId: string,
  wanted: 'all' | 'documents',
): Promise<SegmentParts> {
  const parts = await segments.readParts(database.pool, workspaceId, segmentId, wanted);
  if (parts === null) throw new segments.BuildSuperseded('A segment was replaced meanwhile');
  return parts;
}

async function swap(
  { database, fault, now, random }: BuildContext,
  swapped: Omit<segments.SegmentSwap, 'segment'>,
  encoded: EncodedSegment | null,
): Promise<void> {
  await fault?.('words.before-swap');
  const id = newIdentifier({ now, random }, 'wordSegment');
  await segments.swapSegments(
    database,
    { ...swapped, segment: encoded === null ? null : { id, encoded } },
    async () => {
      await fault?.('words.before-commit');
    },
  );
}

function finishAll<T>(steps: Generator<void, T>): Promise<T> {
  return finishSteps(() => steps.next());
}

function runIn({ database }: BuildContext): RunStatement {
  return async <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]) => {
    const { rows } = await database.pool.query<Row>({ name: 'unindexed-read', text, values: [...values] });
    return rows;
  };
}
