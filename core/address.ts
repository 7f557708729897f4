/** A mailbox of an address list (RFC 5322 §3.4); name is null when none was given, address is as written. */
export interface Mailbox {
  name: string | null;
  address: string;
}

/** A parsed address field: its decoded text and its mailboxes, groups flattened. At most 1,000 mailboxes are kept. */
export interface AddressList {
  text: string;
  addresses: Mailbox[];
}

/** The address fields of a message; null when the field is absent. Stored as email_content.addresses. */
export interface AddressFields {
  from: AddressList | null;
  to: AddressList | null;
  cc: AddressList | null;
  bcc: AddressList | null;
  replyTo: AddressList | null;
}
