import { Group } from '@mantine/core';
import { DELETE_DRAFT, SEND_DRAFT } from '../../composer/composer-documents.ts';
import { connection } from '../../graphql.ts';
import { ActButton, ConfirmButton } from '../../parts/buttons.tsx';
import { MainButton } from '../../parts/controls.tsx';
import { type ListRow, listSource, Row, RowName } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Hint, Tag } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { ListFrame, useGrowingList } from '../activity/mail-list.tsx';
import { pathOfDraft } from '../inbox/inbox-view.ts';

const LIST = listSource({
  label: 'Drafts',
  query: connection(`drafts {
    id version kind from to subject preview isByKey updatedAt
    attachments { id }
    originalEmail { id subject thread { id } }
  }`),
  size: 50,
  kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
  types: ['Draft', 'DeleteDraftPayload', 'SendDraftPayload'],
});
type Draft = ListRow<typeof LIST>;
const KINDS = { NEW: null, REPLY: 'Reply', REPLY_ALL: 'Reply to all', FORWARD: 'Forward' };

/** Drafts, last changed first. */
export function DraftsPage() {
  const list = useGrowingList(LIST, {});
  return (
    <Page
      title="Drafts"
      about="Unsent emails, last changed first."
      actions={<MainButton label="Write" icon="pencil-plus" needed="send" href="/inbox?compose=new" />}
    >
      <ListFrame
        list={list}
        empty={{
          icon: 'pencil',
          title: 'No drafts',
          about:
            'What you write is saved here until you send it. Programs create drafts with POST /api/e2/drafts, for you to check and send.',
        }}
      >
        {(draft) => <DraftRow key={draft.id} draft={draft} />}
      </ListFrame>
    </Page>
  );
}

function DraftRow({ draft }: { draft: Draft }) {
  const { id, version, kind, to, subject, preview, isByKey, updatedAt, attachments, originalEmail } = draft;
  const { act: remove } = useAct(DELETE_DRAFT, { done: 'The draft was deleted.' });
  const title = subject || (originalEmail === null ? '' : `Re: ${originalEmail.subject}`) || '(no subject)';
  const marks = [KINDS[kind], isByKey ? 'by API key' : null].filter((mark) => mark !== null);
  return (
    <Row
      name={
        <>
          <RowName href={pathOfDraft(draft)}>{title}</RowName>
          {marks.map((mark) => (
            <Tag key={mark}>{mark}</Tag>
          ))}
          <Hint className="postroom-wrap">
            {to.length === 0 ? 'No recipients yet' : `To ${to.join(', ')}`}
            {attachments.length > 0 && ` · ${counted(attachments.length, 'attachment')}`}
          </Hint>
        </>
      }
      about={<RelativeTime at={updatedAt} prefix="Changed " />}
      actions={
        <Group gap="xs" wrap="nowrap">
          <ActButton
            label="Send"
            needed="send"
            icon="send"
            aria-label={`Send “${title}”`}
            mutation={SEND_DRAFT}
            input={{ id, version, idempotencyKey: `dashboard ${id} ${version}` }}
            done="The email is being sent."
          />
          <ConfirmButton
            needed="send"
            label="Delete"
            aria-label={`Delete “${title}”`}
            question={`Delete the draft “${title}”?`}
            about="Its text and attachments are deleted."
            confirm="Delete draft"
            act={() => remove({ id })}
          />
        </Group>
      }
    >
      {preview !== '' && <Hint lineClamp={1}>{preview}</Hint>}
    </Row>
  );
}
