/** The columns of an email that its header fields and text give, however it came. */
export interface EmailColumns {
  message_id: string;
  subject: string;
  base_subject: string;
  from_name: string | null;
  from_address: string;
  from_text: string;
  to_addresses: string[];
  cc_addresses: string[];
  preview: string;
  attachment_count: number;
  in_reply_to: string[];
  reference_ids: string[];
}
