import { expect, test } from 'vitest';
import { hasNoCriteria, readValues } from '../../gateway/dashboard/pages/rules/rule-values.ts';
import { formErrors } from '../../gateway/dashboard/parts/form-errors.ts';

const message = 'Validation failed';

test.each([
  ['an error of its own field only at the field', { name: 'is too long' }, { name: 'is too long' }],
  ['the message where no field has an error', {}, { problem: 'Validation failed' }],
  [
    'the message for an error of no field of it',
    { config: 'must have at least one of subject' },
    { problem: 'Validation failed' },
  ],
  [
    'both when some errors have a field and some none',
    { name: 'is too long', config: 'must have at least one of subject' },
    { name: 'is too long', problem: 'Validation failed' },
  ],
])('a form shows %s', (_, fields, shown) => {
  expect(formErrors({ message, fields }, { name: '', url: '' })).toEqual(shown);
});

test('a rule has criteria when one of its lists has a value or an attachment is asked for', () => {
  const values = readValues(null);
  expect(hasNoCriteria(values)).toBe(true);
  expect(hasNoCriteria({ ...values, subject: ['pills'] })).toBe(false);
  expect(hasNoCriteria({ ...values, hasAttachment: 'no' })).toBe(false);
  expect(hasNoCriteria({ ...values, dmarc: ['FAIL'] })).toBe(false);
});
