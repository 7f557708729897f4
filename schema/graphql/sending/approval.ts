import { approval, describeApproval } from '../../../operations/sending/approval-capability.ts';
import { loadApprovals, loadRepliedThreads } from '../../../operations/sending/approvals.ts';
import { builder } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';

const approvalOf = loadByOwner(({ reads }, emailIds) => loadApprovals(reads, emailIds));
const loadRepliedThread = loadByOwner(({ reads }, emailIds) => loadRepliedThreads(reads, emailIds));

const ApprovalRef = typeFor(approval, { isOfDomain: true });

builder.objectField(ApprovalRef as never, 'thread', (t) =>
  t.field({
    type: ThreadNode,
    nullable: true,
    description: 'The thread that the email answers. Null if it starts one.',
    resolve: ({ emailId }: { emailId: string }, _args, context) => loadRepliedThread(context, emailId, null),
  }),
);

builder.objectField(EmailNode, 'approval', (t) =>
  t.field({
    type: ApprovalRef,
    nullable: true,
    description: 'Why the email waits for approval or waited. Null if it never did.',
    async resolve({ id, type }, _args, context) {
      const found = type === 'received' ? null : await approvalOf(context, id, null);
      return found === null ? null : describeApproval(found);
    },
  }),
);
