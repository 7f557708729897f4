import { Modal } from '@mantine/core';
import { useState } from 'react';
import { type MadeKey, NewKeyForm } from './new-key-form.tsx';
import { NewKeySecret } from './new-key-secret.tsx';

/** Creates a key and shows its secret once. */
export function NewKeyModal({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<MadeKey | null>(null);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={made === null ? 'Create API key' : 'Copy API key'}
      size="lg"
      // An accidental click outside must not lose the key.
      closeOnClickOutside={false}
      closeOnEscape={made === null}
      withCloseButton={made === null}
    >
      {made === null ? (
        <NewKeyForm onMade={setMade} onCancel={onClose} />
      ) : (
        <NewKeySecret made={made} onDone={onClose} />
      )}
    </Modal>
  );
}
