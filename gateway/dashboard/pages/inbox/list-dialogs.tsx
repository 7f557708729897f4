import { ActionIcon, Button, Checkbox, Group, List, Modal, Stack, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { useQuery } from 'urql';
import { mutation, type VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { IconBookmark, IconBookmarkFilled } from '../../parts/icons.ts';
import { showNotice } from '../../parts/notify.tsx';
import { Fine, Hint, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { SAVED_VIEWS } from '../../shell/saved-views.tsx';
import { FormPopover } from './form-popover.tsx';
import { RESULT_COUNT, type ThreadRow } from './inbox-documents.ts';
import type { InboxView, ThreadsWanted } from './inbox-view.ts';
import { useTeam } from './people.ts';
import type { Question } from './use-inbox.ts';

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
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const { act: create, isBusy } = useAct(CREATE);
  const { act: rename } = useAct(RENAME);
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
  const open = () => {
    setName(saved?.name ?? '');
    setOpen(!isOpen);
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    const { payload } =
      saved === undefined
        ? await create({ name, folder, search, label, address, assigned, isShared })
        : await rename({ id: saved.id, name });
    if (payload === null) return;
    setOpen(false);
    showNotice(`${payload.savedView.name} is in the navigation.`);
  };
  const drop = async () => {
    setOpen(false);
    if (saved !== undefined) await remove({ id: saved.id });
  };
  const title = saved === undefined ? 'Save view' : `Saved as ${saved.name}`;
  return (
    <FormPopover
      label={title}
      width={260}
      isOpen={isOpen}
      setOpen={setOpen}
      target={
        <ActionIcon variant="default" size={30} aria-label={title} title={title} onClick={open}>
          {saved === undefined ? <IconBookmark size={16} aria-hidden /> : <IconBookmarkFilled size={16} aria-hidden />}
        </ActionIcon>
      }
    >
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap="xs">
          <TextInput
            size="xs"
            label="Name of the view"
            value={name}
            maxLength={64}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          {saved === undefined && isTeam && (
            <Checkbox
              size="xs"
              label="Show it to all members"
              checked={isShared}
              onChange={(event) => setShared(event.currentTarget.checked)}
            />
          )}
          {saved?.isShared === true && <Fine>All members see this view.</Fine>}
          <Group gap="xs">
            <Button type="submit" size="xs" loading={isBusy}>
              {saved === undefined ? 'Save view' : 'Rename'}
            </Button>
            {saved !== undefined && <QuietButton label="Delete view" size="xs" onClick={() => void drop()} />}
          </Group>
        </Stack>
      </form>
    </FormPopover>
  );
}

type MergeDialogProps = { threads: readonly ThreadRow[]; close: () => void; merge: () => void };

/** Asks before conversations are merged: only a split separates them again. */
export function MergeDialog({ threads, close, merge }: MergeDialogProps) {
  return (
    <Modal opened onClose={close} title={`Merge ${threads.length} conversations into one?`} centered>
      <Stack>
        <List size="sm">
          {threads.map(({ id, subject, messageCount }) => (
            <List.Item key={id} className="postroom-wrap">
              {subject || 'No subject'}
              {messageCount > 1 ? ` (${messageCount} messages)` : ''}
            </List.Item>
          ))}
        </List>
        <Hint>
          The oldest conversation takes all messages and labels, and later replies. To separate them again, split the
          conversation at a message.
        </Hint>
        <Group justify="flex-end">
          <QuietButton label="Cancel" onClick={close} />
          <Button onClick={merge} data-autofocus>
            Merge conversations
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The question of a large change. */
export function LargeChangeDialog({ question, close }: { question: Question; close: () => void }) {
  const { title, about, confirm, run } = question;
  return (
    <Modal opened onClose={close} title={title} centered>
      <Stack>
        <Small>{about}</Small>
        <Group justify="flex-end">
          <QuietButton label="Go back" onClick={close} data-autofocus />
          <Button
            onClick={() => {
              close();
              run();
            }}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
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
