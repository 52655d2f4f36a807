import { describeConfig } from '../config/describe-config.js';
import { defineResource } from './define-resource.js';

export const currentConfig = defineResource({
  name: 'config',
  title: 'Current settings',
  description: 'Current server configuration, without secrets',
  mimeType: 'application/json',
  uri: 'config://current',
  read: async (_variable, { config }) => JSON.stringify(describeConfig(config), undefined, 2),
});
