import { Button, CloseButton, FileButton, Group, Paper, Text } from '@mantine/core';
import { IconFile, IconPaperclip } from '../parts/icons.ts';
import { type AttachedFile, MAX_CONTENT_BYTES, sizeText } from './attachments.ts';

/** Attachments of the email: selected here, dropped on the composer, or pasted. */
export function AttachmentField({
  files,
  add,
  remove,
  refusal,
}: {
  files: readonly AttachedFile[];
  add: (files: File[]) => void;
  remove: (id: string) => void;
  /** why the files cannot be sent; null: no problem */
  refusal: string | null;
}) {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return (
    <div>
      <Group gap="xs">
        <FileButton multiple onChange={add} inputProps={{ 'aria-label': 'Files to attach' }}>
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<IconPaperclip size={16} aria-hidden />}>
              Attach files
            </Button>
          )}
        </FileButton>
        {files.length > 0 && <Text size="xs" c="dimmed">{`${sizeText(bytes)} of ${sizeText(MAX_CONTENT_BYTES)}`}</Text>}
        {files.map(
          ({ id, name, size, contentId }) =>
            contentId === null && (
              <Paper key={id} withBorder px="xs" py={2} radius="sm">
                <Group gap={6} wrap="nowrap">
                  <IconFile size={14} aria-hidden />
                  <Text size="xs" className="postroom-wrap">
                    {name}
                  </Text>
                  <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                    {sizeText(size)}
                  </Text>
                  <CloseButton size="xs" aria-label={`Remove ${name}`} onClick={() => remove(id)} />
                </Group>
              </Paper>
            ),
        )}
      </Group>
      <Text size="xs" c="var(--mantine-color-error)" aria-live="polite" mt={refusal === null ? 0 : 4}>
        {refusal}
      </Text>
    </div>
  );
}
