import { ActionIcon, Anchor, Button, Group, Paper, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { sizeText } from '../../composer/attachments.ts';
import { archivePath, hasPreview } from '../../parts/attachment-paths.ts';
import type { PreviewedAttachment } from '../../parts/attachment-preview.tsx';
import { IconDownload, IconEye, IconFile } from '../../parts/icons.ts';
import { hasThumbnail, Thumbnail } from '../../parts/thumbnail.tsx';
import type { MessageBodyData } from './thread-documents.ts';

const AttachmentPreview = lazy(async () => ({
  default: (await import('../../parts/attachment-preview.tsx')).AttachmentPreview,
}));

/** A long name takes no room from its icons. */
const UNSHRUNK = { flex: 'none' } as const;

/** Attachments of an email that are scaled down in the page. */
const MAX_THUMBNAILS = 24;

/** Attachments of a message with size, preview and download link. */
export function MessageAttachments({
  emailId,
  attachments,
}: {
  emailId: string;
  attachments: readonly Omit<MessageBodyData['attachments'][number], 'contentId'>[];
}) {
  const [previewed, setPreviewed] = useState<PreviewedAttachment | null>(null);
  if (attachments.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Attachments">
      {attachments.map(({ index, filename, contentType, size, downloadUrl }) => (
        <Paper key={index} withBorder px="sm" py={6} radius="md">
          <Group gap="xs" wrap="nowrap">
            <Anchor href={pathOf(downloadUrl)} download={filename} size="sm" underline="hover" c="inherit">
              <Group gap="xs" wrap="nowrap">
                {index < MAX_THUMBNAILS && hasThumbnail({ contentType, size }) ? (
                  <Thumbnail
                    emailId={emailId}
                    index={index}
                    fallback={<IconFile size={16} aria-hidden style={UNSHRUNK} />}
                  />
                ) : (
                  <IconFile size={16} aria-hidden style={UNSHRUNK} />
                )}
                <span className="postroom-wrap">{filename}</span>
                <Text component="span" size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }} title={contentType}>
                  {sizeText(size)}
                </Text>
                <IconDownload size={15} aria-label="Download" style={UNSHRUNK} />
              </Group>
            </Anchor>
            {hasPreview(contentType, filename) && (
              <ActionIcon
                size="sm"
                variant="subtle"
                color="gray"
                aria-label={`Preview ${filename}`}
                title="Preview"
                onClick={() => setPreviewed({ emailId, index, filename, downloadPath: pathOf(downloadUrl) })}
              >
                <IconEye size={16} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        </Paper>
      ))}
      {attachments.length > 1 && (
        <Button
          component="a"
          href={archivePath(emailId)}
          download
          size="compact-sm"
          variant="default"
          leftSection={<IconDownload size={15} aria-hidden />}
        >
          Download all
        </Button>
      )}
      {previewed !== null && (
        <Suspense fallback={null}>
          <AttachmentPreview attachment={previewed} close={() => setPreviewed(null)} />
        </Suspense>
      )}
    </Group>
  );
}

/** Returns the URL on this origin, whatever the service's public URL is. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, window.location.href);
  return pathname + search;
}
