import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { archivePath, hasPreview } from '../../parts/attachment-paths.ts';
import type { PreviewedAttachment } from '../../parts/attachment-preview.tsx';
import { IconDownload, IconEye, IconFile } from '../../parts/icons.ts';
import { ATTACHMENTS } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { sizeOf } from './email-words.ts';

const AttachmentPreview = lazy(async () => ({
  default: (await import('../../parts/attachment-preview.tsx')).AttachmentPreview,
}));

/** Attachments of an email with download links. */
export function AttachmentsTab({ id }: { id: string }) {
  const [previewed, setPreviewed] = useState<PreviewedAttachment | null>(null);
  return (
    <EmailPart id={id} query={ATTACHMENTS}>
      {({ attachments }) =>
        attachments.length === 0 ? (
          <Text c="dimmed">This email has no attachments.</Text>
        ) : (
          <Stack gap="xs">
            {attachments.map(({ index, filename, contentType, size, disposition, downloadUrl }) => (
              <Paper key={index} withBorder p="sm">
                <Group justify="space-between" gap="sm">
                  <Group gap="sm" wrap="nowrap" miw={0} flex={1}>
                    <IconFile size={20} aria-hidden />
                    <div>
                      <Text fw={600} size="sm" className="postroom-wrap">
                        {filename}
                      </Text>
                      <Text size="xs" c="dimmed">
                        {contentType}, {sizeOf(size)}
                        {disposition === 'INLINE' ? ', shown inline' : ''}
                      </Text>
                    </div>
                  </Group>
                  <Group gap="xs">
                    {hasPreview(contentType, filename) && (
                      <Button
                        variant="default"
                        size="xs"
                        leftSection={<IconEye size={16} aria-hidden />}
                        aria-label={`Preview ${filename}`}
                        onClick={() =>
                          setPreviewed({ emailId: id, index, filename, downloadPath: new URL(downloadUrl).pathname })
                        }
                      >
                        Preview
                      </Button>
                    )}
                    <Button
                      component="a"
                      href={new URL(downloadUrl).pathname}
                      download
                      variant="default"
                      size="xs"
                      leftSection={<IconDownload size={16} aria-hidden />}
                      aria-label={`Download ${filename}`}
                    >
                      Download
                    </Button>
                  </Group>
                </Group>
              </Paper>
            ))}
            {attachments.length > 1 && (
              <Group>
                <Button
                  component="a"
                  href={archivePath(id)}
                  download
                  variant="default"
                  size="xs"
                  leftSection={<IconDownload size={16} aria-hidden />}
                >
                  Download all
                </Button>
              </Group>
            )}
            {previewed !== null && (
              <Suspense fallback={null}>
                <AttachmentPreview attachment={previewed} close={() => setPreviewed(null)} />
              </Suspense>
            )}
            <Text size="xs" c="dimmed">
              Attachments can be harmful. Check the sender before you open one.
            </Text>
          </Stack>
        )
      }
    </EmailPart>
  );
}
