import { createHash } from 'node:crypto';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import type { SkillFrontmatter, Resource } from './resource.js';
import type { ResourcesHost } from './serve-resources.js';

/** The name of the extension, see https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2640. */
const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';
/** For the caches of clients: skills change with the version of the server alone. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

interface Skill {
  readonly uri: string;
  readonly frontmatter: SkillFrontmatter;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

/** Declares the skills extension and answers `skills/list` and `skills/get`, when a resource is the `SKILL.md` of one. */
export function serveSkills<Services>(
  server: Server,
  { resources, services }: ResourcesHost<Services>,
): void {
  const skills = resources.flatMap((resource) =>
    resource.skill === undefined ? [] : [{ resource, frontmatter: resource.skill }],
  );
  if (skills.length === 0) return;
  server.registerCapabilities({ extensions: { [SKILLS_EXTENSION]: {} } });
  server.setRequestHandler('skills/list', { params: z.looseObject({}) }, async () => ({
    ...CACHING,
    skills: await Promise.all(skills.map((skill) => entryOf(skill, services))),
  }));
  server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }) => {
    const skill = skills.find(({ resource }) => resource.uri === uri);
    if (skill === undefined) throw new ResourceNotFoundError(uri);
    return { ...CACHING, skill: await entryOf(skill, services) };
  });
}

async function entryOf<Services>(
  {
    resource,
    frontmatter,
  }: { readonly resource: Resource<Services>; readonly frontmatter: SkillFrontmatter },
  services: Services,
): Promise<Skill> {
  const { uri } = resource;
  try {
    const bytes = Buffer.from(await resource.read('', services));
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    return { uri, frontmatter, resources: [{ uri, digest, size: bytes.length }] };
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, messageOf(error));
  }
}
