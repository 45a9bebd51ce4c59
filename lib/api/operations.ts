// The documentation lists the operations in this order.
import {
  callAuth,
  drainNow,
  postAuth,
  readDescription,
  readHealth,
  readLimits,
  readMetrics,
  readReadiness,
} from "#lib/api/service";
import { endSession, readSession } from "#lib/auth/api";
import {
  exchangeGrant,
  readResourceMetadata,
  readServerMetadata,
  registerAgent,
  revokeAgentToken,
} from "#lib/auth/oauth/api";
import { pollDeviceLogin, startDeviceLogin } from "#lib/device/api";
import { readFileList, readTraceFileList } from "#lib/files/api";
import { readFindingList } from "#lib/findings/api";
import type { Group, Operation } from "#lib/http/operation";
import { readJob, readRawUpload, sendBatch, uploadFile } from "#lib/ingest/api";
import { findMissingPictures, sendPicture } from "#lib/ingest/pictures/api";
import { callMcp, recallPlaces } from "#lib/mcp/api";
import {
  exportAllOriginals,
  readOriginal,
  readOriginalKey,
  readOriginalList,
  readPart,
  removeOriginal,
  sendOriginal,
  sendPart,
  setOriginalKey,
} from "#lib/originals/api";
import { readProject, readProjectList } from "#lib/projects/api";
import { readPullRequestReport } from "#lib/pull-requests/api";
import { readNames, readSuggestions } from "#lib/search/api";
import { readSharedPicture } from "#lib/shares/api";
import { sendTelemetry } from "#lib/telemetry/api";
import {
  exportTraceAsJson,
  exportTraceAsMarkdown,
  exportTraceList,
  findMatches,
  markTrace,
  readChanges,
  readFacetValues,
  readGrowth,
  readMessageList,
  readTrace,
  readTraceList,
  readTracePicture,
  removeTrace,
} from "#lib/traces/api";
import { exportUsage, readUsageReport } from "#lib/usage/api";

export const operations: readonly Operation[] = [
  ...[startDeviceLogin, pollDeviceLogin],
  ...[readSession, endSession],
  ...[sendBatch, readJob, readRawUpload, uploadFile, findMissingPictures, sendPicture],
  ...[setOriginalKey, readOriginalKey, sendPart, readPart, sendOriginal, readOriginal, readOriginalList],
  ...[exportAllOriginals, removeOriginal],
  ...[
    readTraceList,
    readFacetValues,
    readChanges,
    readTrace,
    markTrace,
    removeTrace,
    readMessageList,
    findMatches,
    readGrowth,
  ],
  readSuggestions,
  ...[readTraceFileList, readFileList, readFindingList],
  readNames,
  ...[readTracePicture, readSharedPicture],
  readPullRequestReport,
  ...[exportTraceList, exportTraceAsJson, exportTraceAsMarkdown],
  ...[readProjectList, readProject],
  ...[readUsageReport, exportUsage],
  sendTelemetry,
  ...[callMcp, recallPlaces],
  ...[readResourceMetadata, readServerMetadata, registerAgent, exchangeGrant, revokeAgentToken],
  ...[callAuth, postAuth],
  ...[readLimits, readHealth, readReadiness, readMetrics, drainNow, readDescription],
];

export const groups: Record<Group, string> = {
  "Device login":
    "How a command-line client gets a token: it starts a login, a person approves it in a browser, the client polls.",
  "CLI token": "Read or revoke the token of a device login.",
  Ingest: "Sending traces, and the jobs that store them.",
  "Exact copies": "Sessions' files as their agent keeps them, encrypted with a key that the server does not have.",
  Traces: "Reading, exporting and deleting stored traces.",
  Projects: "Sessions grouped by repository, across machines and worktrees.",
  Usage: "Usage and cost of sessions.",
  Telemetry: "Reports about a client's parsers.",
  Agents: "The Model Context Protocol for agents, and the same questions for people.",
  "Sign-in": "Accounts and sign-ins of people.",
  Server: "Limits and health, and routes for the operator's programs.",
};
