import { Group, NativeSelect, Paper, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { keepInTab, readInTab } from '../../parts/browser-storage.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fine, Small } from '../../parts/text.tsx';
import { Face } from '../../parts/thumbnail.tsx';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';
import { useTeam } from './people.ts';

const NOTES = graphql(`
  query ThreadNotes($threadId: ID!) {
    threadNotes(threadId: $threadId) { id text authorName authorImage isYours unreached createdAt editedAt }
  }
`);

const NOTE = 'note { id text authorName authorImage isYours unreached createdAt editedAt }';
const ADD = mutation('addThreadNote', NOTE);
const EDIT = mutation('updateThreadNote', NOTE);
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
  const [isWriting, setWriting] = useState(readInTab(useKeptName(threadId)) !== null);
  const add = useAct(ADD, { quiet: true });
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
            button="Add note"
            of={threadId}
            text=""
            close={() => setWriting(false)}
            save={(text) => add.act({ threadId, text })}
          />
        ) : (
          <QuietButton w="fit-content" label="Write note" size="xs" onClick={() => setWriting(true)} />
        ))}
    </Stack>
  );
}

function NoteCard({ note }: { note: Note }) {
  const { id, text, authorName, authorImage, isYours, unreached, createdAt, editedAt } = note;
  const [isEditing, setEditing] = useState(readInTab(useKeptName(note.id)) !== null);
  const mayRemove = useRight('members') || isYours;
  const edit = useAct(EDIT, { quiet: true });
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
              <QuietButton label="Edit note" size="compact-xs" variant="subtle" onClick={() => setEditing(true)} />
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
          button="Save note"
          of={id}
          text={text}
          close={() => setEditing(false)}
          save={(changed) => edit.act({ id, text: changed })}
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

/** The name of what the tab keeps of a note until it is added or saved: another conversation may be opened meanwhile. */
const useKeptName = (id: string) => `postroom-note ${useViewer().id} ${useViewer().person?.id} ${id}`;

interface NoteFormProps {
  button: string;
  /** the conversation of a new note, or the note */
  of: string;
  text: string;
  close: () => void;
  save: (text: string) => Promise<{ problem: Problem | null }>;
}

function NoteForm({ button, of, text, close, save }: NoteFormProps) {
  const others = useTeam().members.filter(({ isYou }) => !isYou);
  const keptName = useKeptName(of);
  const [kept] = useState(() => readInTab<{ text: string }>(keptName) ?? { text });
  const end = () => {
    keepInTab(keptName, null);
    close();
  };
  const form = useRecordForm({ values: kept, submit: (values) => save(values.text), saved: end });
  const written = form.values.text;
  useEffect(() => keepInTab(keptName, written === text ? null : { text: written }), [keptName, written, text]);
  const mention = (email: string) =>
    form.setFieldValue('text', (typed) => `${typed}${typed === '' || /\s$/.test(typed) ? '' : ' '}@${email} `);
  return (
    <Paper withBorder p="xs" radius="md">
      <RecordForm
        form={form}
        submit={button}
        isDisabled={form.values.text.trim() === ''}
        cancel={end}
        gap="xs"
        size="xs"
        justify="flex-start"
        aside={
          others.length > 0 && (
            <NativeSelect
              size="xs"
              aria-label="Mention member"
              value=""
              onChange={({ currentTarget: { value } }) => value !== '' && mention(value)}
              data={[
                { value: '', label: 'Mention member' },
                ...others.map(({ email, called }) => ({ value: email, label: called })),
              ]}
            />
          )
        }
      >
        <form.LongText
          name="text"
          label="Note"
          description="Members only. It is never part of an email."
          minRows={2}
          maxRows={12}
          maxLength={MAX_LENGTH}
          data-autofocus
        />
      </RecordForm>
    </Paper>
  );
}
