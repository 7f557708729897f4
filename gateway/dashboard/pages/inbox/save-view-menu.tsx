import { ActionIcon, Button, Checkbox, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { type SubmitEvent, useState } from 'react';
import { useQuery } from 'urql';
import { graphql, type VariablesOf } from '../../graphql.ts';
import { IconBookmark, IconBookmarkFilled } from '../../parts/icons.ts';
import { showNotice } from '../../parts/notice.tsx';
import { useAct } from '../../parts/use-act.ts';
import { SAVED_VIEWS } from '../../shell/saved-view-documents.ts';
import type { InboxView } from './inbox-view.ts';
import { useTeam } from './use-team.ts';

const CREATE = graphql(`
  mutation InboxSaveView($input: CreateSavedViewInput!) {
    createSavedView(input: $input) { __typename ... on CreateSavedViewPayload { savedView { id name } } }
  }
`);
const RENAME = graphql(`
  mutation InboxRenameView($input: UpdateSavedViewInput!) {
    updateSavedView(input: $input) { __typename ... on UpdateSavedViewPayload { savedView { id name } } }
  }
`);
const DELETE = graphql(`
  mutation InboxDeleteView($input: DeleteSavedViewInput!) {
    deleteSavedView(input: $input) { __typename ... on DeleteSavedViewPayload { deletedId } }
  }
`);
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
        ? await create({ input: { name, folder, search, label, address, assigned, isShared } })
        : await rename({ input: { id: saved.id, name } });
    if (payload === null) return;
    setOpen(false);
    showNotice(`${payload.savedView.name} is in the navigation.`);
  };
  const drop = async () => {
    setOpen(false);
    if (saved !== undefined) await remove({ input: { id: saved.id } });
  };
  const title = saved === undefined ? 'Save view' : `Saved as ${saved.name}`;
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={260}
      transitionProps={{ duration: 0 }}
      trapFocus
      returnFocus
      withRoles
    >
      <Popover.Target>
        <ActionIcon variant="default" size={30} aria-label={title} title={title} onClick={open}>
          {saved === undefined ? <IconBookmark size={16} aria-hidden /> : <IconBookmarkFilled size={16} aria-hidden />}
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={title}>
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
            {saved?.isShared === true && (
              <Text size="xs" c="dimmed">
                All members see this view.
              </Text>
            )}
            <Group gap="xs">
              <Button type="submit" size="xs" loading={isBusy}>
                {saved === undefined ? 'Save view' : 'Rename'}
              </Button>
              {saved !== undefined && (
                <Button size="xs" variant="default" onClick={() => void drop()}>
                  Delete view
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
