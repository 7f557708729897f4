import { z } from 'zod';
import { invalid } from '../../../operations/context.ts';
import {
  labelCapability,
  threadChangeCapability,
  threadFlags,
} from '../../../operations/threads/thread-change-capability.ts';
import { threadTrashCapability } from '../../../operations/threads/trash-capability.ts';
import { accessByCase } from '../../admission/access.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { wireInput } from '../capability-shapes.ts';
import { queryBoolean } from '../shapes.ts';

const CHANGES = Object.keys(wireInput(threadFlags, 'snake').shape);

type Body = Record<string, unknown>;

/** Throws validation when a body changes nothing, or gives labels in two ways. */
function requireChange(body: Body): void {
  if (CHANGES.every((name) => body[name] === undefined))
    throw invalid(`Give at least one of: ${CHANGES.join(', ')}`, 'is_read');
  if (body['labels'] !== undefined && (body['add_labels'] !== undefined || body['remove_labels'] !== undefined))
    throw invalid('Give either `labels`, or `add_labels` and `remove_labels`', 'labels');
}

function requireOneChange(body: Body): void {
  if (body['is_trashed'] === undefined) requireChange(body);
  else if (CHANGES.some((name) => name in body))
    throw invalid(
      '`is_trashed` cannot be combined with other changes. Send them in a request of their own.',
      'is_trashed',
    );
}

/** Reads a body as usual after a check. */
const checked = (check: (body: Body) => void) => ({
  inputOf: (body: Body, usual: (body: Body) => Body) => {
    check(body);
    return usual(body);
  },
});

/** The trash keeps a thread for a while; `forever` does not. */
const accessToDeleteThread = accessByCase(
  { 'to move it to the trash': ['organize'], 'to delete it forever': ['remove'] },
  ({ query }) => ((query as { forever?: unknown }).forever === true ? ['remove'] : ['organize']),
);

export const threadChangeRoutes = [
  capabilityRoutes(threadChangeCapability, {
    operations: {
      updateThread: checked(requireChange),
      updateThreads: checked(requireOneChange),
    },
  }),
  capabilityRoutes(labelCapability),
];

export const threadTrashRoutes = capabilityRoutes(threadTrashCapability, {
  operations: {
    deleteThread: {
      access: accessToDeleteThread,
      request: z.object({}),
      query: z.object({
        forever: queryBoolean.default(false).meta({
          description: 'Deletes the mail permanently, now. By default it is in the trash for 30 days.',
        }),
      }),
    },
  },
});
