import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { useLocation } from 'wouter';
import { type AttachedFile, attachmentsInput } from '../composer/attachments.ts';
import { CREATE_DRAFT } from '../composer/composer-documents.ts';
import { graphql, mutation, type ResultOf, record } from '../graphql.ts';
import { pathOfDraft } from '../pages/inbox/inbox-view.ts';
import { useRight } from '../shell/viewer.ts';
import { QuietButton } from './controls.tsx';
import { notify } from './notify.tsx';
import { Small } from './text.tsx';
import { useAct } from './use-act.ts';

const SUPPRESSION = graphql(`
  query SendAgainSuppression($address: String!) { suppression(idOrAddress: $address) { id address reason createdAt } }
`);
const CONTENT = record(`email {
  id subject
  from { name address }
  content { text html }
  attachments { index filename contentType contentId size }
}`);
export const REMOVE_SUPPRESSION = mutation('removeSuppression', 'deletedId address');
const REASONS = {
  BOUNCE: 'because mail to it bounced',
  COMPLAINT: 'because the recipient complained',
  UNSUBSCRIBE: 'because the recipient unsubscribed',
  MANUAL: 'because someone added it',
} as const;
const TYPES = { additionalTypenames: ['Suppression', 'RemoveSuppressionPayload'] };

/** For a recipient whom an email did not reach: opens the email as a draft again, once the address is not suppressed any more. */
export function SendAgain({ emailId, address }: { emailId: string; address: string }) {
  const [{ data, fetching }] = useQuery({ query: SUPPRESSION, variables: { address }, context: TYPES });
  const { act: lift, isBusy: isLifting } = useAct(REMOVE_SUPPRESSION);
  const { act: create } = useAct(CREATE_DRAFT);
  const [isOpening, setOpening] = useState(false);
  const client = useClient();
  const [, navigate] = useLocation();
  const maySend = useRight('send');
  const mayLift = useRight('policies');
  const suppression = data?.suppression ?? null;
  const open = async () => {
    setOpening(true);
    try {
      const { data: read } = await client.query(CONTENT, { id: emailId }).toPromise();
      const email = read?.email;
      if (email == null) throw new Error('The email could not be read. Try again.');
      const files = await Promise.all(email.attachments.map((each) => fetchFile(emailId, each)));
      const { payload } = await create({
        kind: 'NEW',
        from: email.from.address,
        to: [address],
        subject: email.subject,
        text: email.content.text,
        html: email.content.html,
        attachments: (await attachmentsInput(files, new Map())).flatMap((file) => ('id' in file ? [] : [file])),
      });
      if (payload !== null) navigate(pathOfDraft({ id: payload.draft.id, kind: 'NEW', originalEmail: null }));
    } catch (error) {
      notify({
        message: error instanceof Error ? error.message : 'The email could not be opened again.',
        color: 'red',
      });
    } finally {
      setOpening(false);
    }
  };
  if (!maySend || (fetching && data === undefined)) return null;
  return (
    <Group gap="xs">
      {suppression !== null && (
        <Text size="xs" role="note" className="postroom-wrap">
          {`${address} is suppressed ${REASONS[suppression.reason]}.`}
        </Text>
      )}
      {suppression !== null && mayLift && (
        <QuietButton
          label="Remove suppression"
          size="compact-xs"
          loading={isLifting}
          onClick={() => void lift({ idOrAddress: suppression.id })}
        />
      )}
      {suppression === null && (
        <QuietButton label="Send again" size="compact-xs" loading={isOpening} onClick={() => void open()} />
      )}
    </Group>
  );
}

type Attachment = NonNullable<ResultOf<typeof CONTENT>['email']>['attachments'][number];

async function fetchFile(emailId: string, attachment: Attachment): Promise<AttachedFile> {
  const { index, filename, contentType, contentId, size } = attachment;
  const response = await fetch(`/api/e2/attachments/${encodeURIComponent(emailId)}/parts/${index}`);
  if (!response.ok) throw new Error(`${filename} could not be read. Try again.`);
  const file = new File([await response.blob()], filename, { type: contentType });
  return { id: `${emailId} ${index}`, name: filename, size, file, contentId: contentId?.replace(/^<|>$/g, '') ?? null };
}

/** Why a server refused or deferred an email, and what to do. Nothing when it did not. */
export function RefusalNote({ refusal }: { refusal: { title: string; advice: string } | null }) {
  return refusal === null ? null : (
    <Small className="postroom-wrap">
      <strong>{refusal.title}.</strong> {refusal.advice}
    </Small>
  );
}
