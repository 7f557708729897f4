import { z } from 'zod';
import type { OperationContext } from '../../../operations/context.ts';
import {
  draftCapability,
  draftChangeShape,
  draftResource,
  flattenDraft,
  newDraftShape,
  readDraftInput,
} from '../../../operations/sending/draft-capability.ts';
import type { Draft, DraftInput, NewDraft } from '../../../operations/sending/drafts.ts';
import { NO_CONTENT, readFile } from '../../../operations/sending/email-input.ts';
import type { Receipt } from '../../../operations/sending/idempotency.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { makeReader, wireInput } from '../capability-shapes.ts';
import { errorBody, makeListShape } from '../shapes.ts';
import { plainWireObject } from '../wire-object.ts';
import { sentDifferences } from './sending.ts';

const object = plainWireObject(draftResource, 'snake');
const { text: _text, html: _html, ...summary } = object.shape.shape;

/** A draft in lists, without its bodies. */
const draftSummary = z.object(summary).meta({ id: 'DraftSummary' });

/** Converts a draft without its bodies. */
export function writeDraftSummary(context: OperationContext, draft: Draft): Record<string, unknown> {
  return object.writeRow(context, flattenDraft(draft));
}

export const newDraft = wireInput(newDraftShape, 'snake');
export const draftChange = wireInput(draftChangeShape, 'snake');
const readBody = makeReader(z.object({ ...newDraftShape.shape, ...draftChangeShape.shape }), 'snake');

/** Converts the body of a new draft. Throws validation. */
export function readNewDraft(body: object): NewDraft {
  const { kind, originalEmailId, ...input } = readBody(body) as NewDraft & Parameters<typeof readDraftInput>[0];
  return { kind, originalEmailId, ...readDraftInput(input, NO_CONTENT) };
}

/** Converts the body of a change. Throws validation. */
export function readDraftChange(body: object): DraftInput & { version: number } {
  const { version, ...input } = readBody(body) as { version: number } & Parameters<typeof readDraftInput>[0];
  return { version, ...readDraftInput(input, NO_CONTENT) };
}

const conflictBody = errorBody
  .extend({ version: z.number().int().optional().meta({ description: 'The present version, if it has changed.' }) })
  .meta({ id: 'DraftConflict', description: 'The draft has changed, or the account has too many drafts.' });
const errors = { 409: conflictBody };

/** Rejects new files without content in the words of REST. */
function readFiles(body: Record<string, unknown>, usual: (body: Record<string, unknown>) => Record<string, unknown>) {
  const input = usual(body);
  const { attachments } = input as Parameters<typeof readDraftInput>[0];
  for (const [index, file] of (attachments ?? []).entries())
    if (file.id == null) readFile(file, `attachments.${index}`);
  return input;
}

export const draftRoutes = capabilityRoutes<Receipt & { id: string }>(draftCapability, {
  operations: {
    listDrafts: { response: { shape: () => makeListShape(draftSummary), bodyOf: (usual) => usual } },
    createDraft: { errors },
    updateDraft: { errors, inputOf: readFiles },
    deleteDraft: { errors },
    sendDraft: { ...sentDifferences, errors },
  },
});
