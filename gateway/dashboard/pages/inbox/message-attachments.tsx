import { Anchor, Group, Paper, Text } from '@mantine/core';
import { IconDownload, IconFile } from '@tabler/icons-react';
import { sizeText } from '../../composer/attachments.ts';
import type { MessageBodyData } from './thread-documents.ts';

/** Attachments of a message with size and download link. */
export function MessageAttachments({ attachments }: { attachments: MessageBodyData['attachments'] }) {
  if (attachments.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Attachments">
      {attachments.map(({ index, filename, contentType, size, downloadUrl }) => (
        <Paper key={index} withBorder px="sm" py={6} radius="md">
          <Anchor href={pathOf(downloadUrl)} download={filename} size="sm" underline="hover" c="inherit">
            <Group gap="xs" wrap="nowrap">
              <IconFile size={16} aria-hidden />
              <span className="postroom-wrap">{filename}</span>
              <Text component="span" size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }} title={contentType}>
                {sizeText(size)}
              </Text>
              <IconDownload size={15} aria-label="Download" />
            </Group>
          </Anchor>
        </Paper>
      ))}
    </Group>
  );
}

/** Returns the URL on this origin, whatever the service's public URL is. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, window.location.href);
  return pathname + search;
}
