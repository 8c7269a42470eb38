// A deep agent of LangChain, with its own todo list and the real file system. node deepagents.mjs chat|responses TASK
import { ChatOpenAI } from "@langchain/openai";
import { createDeepAgent } from "deepagents";
import { todoListMiddleware, tool } from "langchain";
import { apiKey, baseURL, mode, task, writeFile } from "./tools.mjs";

const { name, description, schema, run } = { ...writeFile, name: "save_file" }; // write_file is the agent's own

const agent = createDeepAgent({
  model: new ChatOpenAI({ model: "gpt-5", apiKey, configuration: { baseURL }, useResponsesApi: mode === "responses" }),
  tools: [tool(run, { name, description, schema })],
  middleware: [todoListMiddleware()],
});
const { messages } = await agent.invoke({ messages: [{ role: "user", content: task }] }, { recursionLimit: 200 });
console.log(messages.at(-1).text);
