import { List, Modal } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { mutation, type VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { PopoverButton, Question } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { showNotice } from '../../parts/notify.tsx';
import { Fine, Hint, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { SAVED_VIEWS } from '../../shell/saved-views.tsx';
import { RESULT_COUNT, type ThreadRow } from './inbox-documents.ts';
import type { InboxView, ThreadsWanted } from './inbox-view.ts';
import { useTeam } from './people.ts';
import type { LargeQuestion } from './use-inbox.ts';

const CREATE = mutation('createSavedView', 'savedView { id name }');
const RENAME = mutation('updateSavedView', 'savedView { id name }');
const DELETE = mutation('deleteSavedView', 'deletedId');
const TYPES = { additionalTypenames: ['SavedView', 'DeleteSavedViewPayload'] };

type Folder = VariablesOf<typeof CREATE>['input']['folder'];

/** Saves the search and filters of the list under a name, or renames and deletes the view that has them. */
export function SaveViewMenu({ view }: { view: InboxView }) {
  const [{ data }] = useQuery({ query: SAVED_VIEWS, context: TYPES });
  const { isTeam } = useTeam();
  const [isOpen, setOpen] = useState(false);
  const { act: create } = useAct(CREATE, { quiet: true });
  const { act: rename } = useAct(RENAME, { quiet: true });
  const { act: remove } = useAct(DELETE);
  const { search, label, address, assigned } = view;
  const folder = view.folder.toUpperCase() as NonNullable<Folder>;
  const saved = data?.savedViews.find(
    (one) =>
      one.folder === folder &&
      one.search === search &&
      one.label === label &&
      one.address === address &&
      one.assigned === assigned,
  );
  const form = useRecordForm({
    values: { name: '', isShared: false },
    submit: async ({ name, isShared }) =>
      saved === undefined
        ? create({ name, folder, search, label, address, assigned, isShared })
        : rename({ id: saved.id, name }),
    saved: ({ payload }) => {
      setOpen(false);
      showNotice(`${payload.savedView.name} is in the navigation.`);
    },
  });
  const drop = async () => {
    setOpen(false);
    if (saved !== undefined) await remove({ id: saved.id });
  };
  const title = saved === undefined ? 'Save view' : `Saved as ${saved.name}`;
  return (
    <PopoverButton
      label={title}
      title={title}
      icon={saved === undefined ? 'bookmark' : 'bookmark-filled'}
      iconSize={16}
      variant="default"
      size={30}
      room={260}
      isOpen={isOpen}
      setOpen={(next) => {
        if (next) form.setFieldValue('name', saved?.name ?? '');
        setOpen(next);
      }}
    >
      <RecordForm
        form={form}
        submit={saved === undefined ? 'Save view' : 'Rename'}
        isDisabled={form.values.name.trim() === ''}
        gap="xs"
        size="xs"
        justify="flex-start"
        aside={saved !== undefined && <QuietButton label="Delete view" size="xs" onClick={() => void drop()} />}
      >
        <form.Text name="name" size="xs" label="Name of the view" maxLength={64} data-autofocus />
        {saved === undefined && isTeam && <form.Checkbox name="isShared" size="xs" label="Show it to all members" />}
        {saved?.isShared === true && <Fine>All members see this view.</Fine>}
      </RecordForm>
    </PopoverButton>
  );
}

type MergeDialogProps = { threads: readonly ThreadRow[]; close: () => void; merge: () => void };

/** Asks before conversations are merged: only a split separates them again. */
export function MergeDialog({ threads, close, merge }: MergeDialogProps) {
  return (
    <Modal opened onClose={close} title={`Merge ${threads.length} conversations into one?`} centered>
      <Question confirm="Merge conversations" focus="confirm" act={async () => merge()} close={close}>
        <List size="sm">
          {threads.map(({ id, subject, messageCount }) => (
            <List.Item key={id} className="postroom-wrap">
              {subject || '(no subject)'}
              {messageCount > 1 ? ` (${messageCount} messages)` : ''}
            </List.Item>
          ))}
        </List>
        <Hint>
          The oldest conversation takes all messages and labels, and later replies. To separate them again, split the
          conversation at a message.
        </Hint>
      </Question>
    </Modal>
  );
}

/** The question of a large change. */
export function LargeChangeDialog({ question, close }: { question: LargeQuestion; close: () => void }) {
  const { title, about, confirm, run } = question;
  return (
    <Modal opened onClose={close} title={title} centered>
      <Question confirm={confirm} act={async () => run()} close={close}>
        <Small>{about}</Small>
      </Question>
    </Modal>
  );
}

/** How many conversations a search finds. */
export function ResultCount({ wanted }: { wanted: ThreadsWanted }) {
  const { data } = useLiveQuery({
    query: RESULT_COUNT,
    variables: { ...wanted },
    kinds: ['EMAIL_THREADED'],
    gatherMs: 1_000,
  });
  const count = data?.inbox.totalCount;
  return (
    <Fine px="xs" py={2} mih="1.4rem" role="status">
      {count === undefined ? '' : counted(count, 'conversation')}
    </Fine>
  );
}
