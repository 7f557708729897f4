import { Button, Group, NativeSelect, Paper, Stack, Textarea } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fine, Small } from '../../parts/text.tsx';
import { Face } from '../../parts/thumbnail.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useRight } from '../../shell/viewer.ts';
import { useTeam } from './people.ts';

const NOTES = graphql(`
  query ThreadNotes($threadId: ID!) {
    threadNotes(threadId: $threadId) { id text authorName authorImage isYours unreached createdAt editedAt }
  }
`);

const ADD = mutation('addThreadNote', 'note { id text authorName authorImage isYours unreached createdAt editedAt }');

const EDIT = mutation(
  'updateThreadNote',
  'note { id text authorName authorImage isYours unreached createdAt editedAt }',
);

const REMOVE = mutation('deleteThreadNote', 'id');

type Note = ResultOf<typeof NOTES>['threadNotes'][number];

/** Maximum characters of a note. */
const MAX_LENGTH = 5_000;

/** What members wrote beside the conversation, and a field for more; nothing in a workspace with one member and no notes. */
export function ThreadNotes({ threadId }: { threadId: string }) {
  const mayRead = useRight('notes');
  const mayWrite = useRight('organize');
  const { isTeam } = useTeam();
  const { data, error, refresh } = useLiveQuery({
    query: NOTES,
    variables: { threadId },
    kinds: ['THREAD_NOTE_ADDED', 'THREAD_NOTE_EDITED', 'THREAD_NOTE_DELETED', 'THREAD_MERGED'],
    concerns: (event) => event.threadId === threadId,
    types: ['Note', 'DeleteThreadNotePayload'],
    isPaused: !mayRead,
  });
  const [isWriting, setWriting] = useState(false);
  const add = useAct(ADD);
  const notes = data?.threadNotes ?? [];
  if (!mayRead || (!isTeam && notes.length === 0)) return null;
  return (
    <Stack gap="xs" component="section" aria-label="Notes">
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {notes.map((note) => (
        <NoteCard key={note.id} note={note} />
      ))}
      {mayWrite &&
        (isWriting ? (
          <NoteForm
            label="Note"
            button="Add note"
            text=""
            isBusy={add.isBusy}
            close={() => setWriting(false)}
            save={async (text) => (await add.act({ threadId, text })).problem === null}
          />
        ) : (
          <Group>
            <QuietButton label="Write note" size="xs" onClick={() => setWriting(true)} />
          </Group>
        ))}
    </Stack>
  );
}

function NoteCard({ note }: { note: Note }) {
  const { id, text, authorName, authorImage, isYours, unreached, createdAt, editedAt } = note;
  const [isEditing, setEditing] = useState(false);
  const mayRemove = useRight('members') || isYours;
  const edit = useAct(EDIT);
  const remove = useAct(REMOVE);
  return (
    <Paper withBorder px="md" py="xs" radius="md" component="article" aria-label={`Note by ${authorName}`} data-note>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Face name={authorName} image={authorImage} size={20} />
          <Fine className="postroom-wrap">
            Note by {authorName}, <RelativeTime at={createdAt} />
            {editedAt !== null && ', edited'}
          </Fine>
        </Group>
        {!isEditing && (
          <Group gap={4} wrap="nowrap">
            {isYours && (
              <Button size="compact-xs" variant="subtle" onClick={() => setEditing(true)}>
                Edit note
              </Button>
            )}
            {mayRemove && (
              <ConfirmButton
                label="Delete note"
                question="Delete this note?"
                about="Members do not see it any more."
                confirm="Delete"
                size="compact-xs"
                act={() => remove.act({ id })}
              />
            )}
          </Group>
        )}
      </Group>
      {isEditing ? (
        <NoteForm
          label="Note"
          button="Save note"
          text={text}
          isBusy={edit.isBusy}
          close={() => setEditing(false)}
          save={async (changed) => (await edit.act({ id, text: changed })).problem === null}
        />
      ) : (
        <Small className="postroom-wrap" style={{ whiteSpace: 'pre-wrap' }}>
          {text}
        </Small>
      )}
      {unreached.length > 0 && (
        <Fine>{`${unreached.join(', ')} cannot read this conversation and got no notice.`}</Fine>
      )}
    </Paper>
  );
}

interface NoteFormProps {
  label: string;
  button: string;
  text: string;
  isBusy: boolean;
  close: () => void;
  /** returns whether it was saved */
  save: (text: string) => Promise<boolean>;
}

function NoteForm({ label, button, text, isBusy, close, save }: NoteFormProps) {
  const { members } = useTeam();
  const [typed, setTyped] = useState(text);
  const others = members.filter(({ isYou }) => !isYou);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() !== '') void save(typed).then((isSaved) => isSaved && close());
  };
  const mention = (email: string) => {
    if (email !== '') setTyped(`${typed}${typed === '' || /\s$/.test(typed) ? '' : ' '}@${email} `);
  };
  return (
    <Paper withBorder p="xs" radius="md" component="form" onSubmit={submit}>
      <Stack gap="xs">
        <Textarea
          label={label}
          description="Members only. It is never part of an email."
          autosize
          minRows={2}
          maxRows={12}
          maxLength={MAX_LENGTH}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <Group gap="xs">
          <Button type="submit" size="xs" loading={isBusy} disabled={typed.trim() === ''}>
            {button}
          </Button>
          <QuietButton label="Cancel" size="xs" onClick={close} />
          {others.length > 0 && (
            <NativeSelect
              size="xs"
              aria-label="Mention member"
              value=""
              onChange={(event) => mention(event.currentTarget.value)}
              data={[
                { value: '', label: 'Mention member' },
                ...others.map(({ email, called }) => ({ value: email, label: called })),
              ]}
            />
          )}
        </Group>
      </Stack>
    </Paper>
  );
}
