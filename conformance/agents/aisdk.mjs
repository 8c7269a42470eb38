// An agent made with the AI SDK. node aisdk.mjs chat|responses|messages TASK
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { apiKey, baseURL, mode, task, todoWrite, writeFile } from "./tools.mjs";

const models = {
  chat: () => createOpenAICompatible({ name: "any", baseURL, apiKey })("some-model"),
  responses: () => createOpenAI({ baseURL, apiKey })("gpt-5"),
  messages: () => createAnthropic({ baseURL: process.env.ANTHROPIC_BASE_URL + "/v1", apiKey })("claude-sonnet-4-5"),
};
const toolOf = ({ description, schema, run }) => tool({ description, inputSchema: schema, execute: run });

const result = streamText({
  model: models[mode](),
  prompt: task,
  stopWhen: stepCountIs(30),
  tools: { todo_write: toolOf(todoWrite), write_file: toolOf(writeFile) },
});
for await (const text of result.textStream) process.stdout.write(text);
process.stdout.write("\n");
