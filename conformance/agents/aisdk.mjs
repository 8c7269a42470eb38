// An agent made with the AI SDK: a todo list, a tool that writes files, and the
// loop that the SDK has for them. node aisdk.mjs chat|responses|messages TASK
import { writeFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [protocol, prompt] = process.argv.slice(2);
const baseURL = process.env.OPENAI_BASE_URL;
const models = {
  chat: () => createOpenAICompatible({ name: "any", baseURL, apiKey: "none" })("some-model"),
  responses: () => createOpenAI({ baseURL, apiKey: "none" })("gpt-5"),
  messages: () => createAnthropic({ baseURL: process.env.ANTHROPIC_BASE_URL + "/v1", apiKey: "none" })("claude-sonnet-4-5"),
};

const result = streamText({
  model: models[protocol](),
  prompt,
  stopWhen: stepCountIs(30),
  tools: {
    todo_write: tool({
      description: "Write the todo list.",
      inputSchema: z.object({ todos: z.array(z.object({ id: z.string(), content: z.string(), status: z.string() })) }),
      execute: async () => "ok",
    }),
    write_file: tool({
      description: "Write a file.",
      inputSchema: z.object({ file_path: z.string(), content: z.string() }),
      execute: async ({ file_path, content }) => {
        writeFileSync(file_path, content);
        return "ok";
      },
    }),
  },
});
for await (const text of result.textStream) process.stdout.write(text);
process.stdout.write("\n");
