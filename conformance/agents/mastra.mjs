// An agent of Mastra, with Mastra's task list. node mastra.mjs chat TASK
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { TaskSignalProvider } from "@mastra/core/signals";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Memory } from "@mastra/memory";
import { apiKey, baseURL, task, writeFile } from "./tools.mjs";

const storage = new InMemoryStore();
const builder = new Agent({
  id: "builder",
  name: "builder",
  instructions: "You build pages.",
  model: { id: "any/some-model", url: baseURL, apiKey },
  memory: new Memory({ storage }),
  signals: [new TaskSignalProvider()],
  tools: {
    write_file: createTool({
      id: writeFile.name,
      description: writeFile.description,
      inputSchema: writeFile.schema,
      execute: writeFile.run,
    }),
  },
});
const mastra = new Mastra({ storage, agents: { builder }, logger: false });
const { textStream } = await mastra.getAgent("builder").stream(task, { maxSteps: 30, memory: { thread: "page", resource: "user" } });
for await (const text of textStream) process.stdout.write(text);
process.stdout.write("\n");
process.exit();
