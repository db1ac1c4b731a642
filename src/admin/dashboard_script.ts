/** `/dashboard.js`: runs in the browser, reads the same JSON as everybody else. */
export const DASHBOARD_SCRIPT = `"use strict";
const PERIOD_MS = 2000;
const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");

function text(value) {
  if (value === null || value === undefined) return "unknown";
  return typeof value === "number" ? number.format(value) : String(value);
}

function bytes(value) {
  if (value === null || value === undefined) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let shown = value;
  while (shown >= 1024 && unit < units.length - 1) { shown /= 1024; unit++; }
  return shown.toFixed(unit === 0 ? 0 : 1) + " " + units[unit];
}

function time(value) {
  return value === null ? "none" : new Date(value).toLocaleString();
}

function element(name, content) {
  const made = document.createElement(name);
  made.textContent = content;
  return made;
}

function fillList(id, fields) {
  byId(id).replaceChildren(...fields.flatMap(([name, value]) =>
    [element("dt", name), element("dd", value)]));
}

function fillTable(id, head, rows, empty) {
  if (rows.length === 0) {
    byId(id).replaceChildren(element("caption", empty));
    return;
  }
  const line = (cells, cell) => {
    const row = document.createElement("tr");
    row.append(...cells.map((it) => element(cell, it)));
    return row;
  };
  byId(id).replaceChildren(line(head, "th"), ...rows.map((it) => line(it, "td")));
}

async function get(path) {
  const token = sessionStorage.getItem("token");
  const answer = await fetch(path, {
    headers: token === null ? {} : { authorization: "Bearer " + token },
  });
  if (answer.status === 401) throw new Error("token");
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  return body;
}

function showHA(ha) {
  byId("identity").textContent =
    ha.clusterName + " / " + ha.brokerName + " / " + ha.brokerId;
  byId("state").textContent = ha.role + ": " + ha.state;
  byId("state").className =
    ["healthy", "alone"].includes(ha.state) ? "good" : "bad";
  fillList("ha", [
    ["State", ha.reason === null ? ha.state : ha.state + ": " + ha.reason],
    ["HA address", text(ha.haAddress)],
    ["Log end", text(ha.masterCommitLogMaxOffset)],
    ["Flushed", text(ha.flushedOffset)],
    ["Visible", text(ha.confirmOffset)],
    ["Replicated", text(ha.replicatedOffset)],
    ...masterRows(ha.haClientRuntimeInfo),
  ]);
  fillTable("slaves", ["Slave", "State", "Ack offset", "Behind", "Rate"],
    ha.haConnectionInfo.map((it) => [it.addr, it.state, text(it.slaveAckOffset),
      bytes(it.diff), bytes(it.transferredByteInSecond) + "/s"]),
    "No slave is connected");
}

function masterRows(it) {
  return it === null ? [] : [
    ["Master", text(it.masterAddr) + " " + it.state],
    ["Behind", bytes(it.diff) + ", " + text(it.lagMs) + " ms"],
    ["Own log end", text(it.maxOffset)],
  ];
}

function showStore(store) {
  const disk = store.disk;
  fillList("store", [
    ["Writable", store.isWritable ? "yes" : "no: " + store.unwritableReason],
    ["Log", text(store.commitLogMinOffset) + " to " +
      text(store.commitLogMaxOffset) + " (" +
      bytes(store.commitLogMaxOffset - store.commitLogMinOffset) + ")"],
    ["Not yet flushed", bytes(store.flushBehindBytes)],
    ["Not yet dispatched", bytes(store.dispatchBehindBytes)],
    ["Oldest message", time(store.earliestMessageTimestamp)],
    ["Messages stored since start", text(store.putMessageTimesTotal)],
    ["Disk", disk === null ? "unknown" :
      bytes(disk.freeBytes) + " free of " + bytes(disk.totalBytes)],
    ["Folder", store.storePathRootDir],
  ]);
}

async function refresh() {
  const [ha, store, topics, groups, clients] = await Promise.all(
    ["ha", "store", "topics", "groups", "clients"].map((it) =>
      get("/admin/" + it)));
  showHA(ha);
  showStore(store);
  fillTable("topics", ["Topic", "Read queues", "Write queues", "Perm"],
    topics.topics.filter((it) => !it.isSystem).map((it) => [it.topicName,
      text(it.readQueueNums), text(it.writeQueueNums), text(it.perm)]),
    "No topics yet");
  const lags = await Promise.all(groups.groups.slice(0, 50).map((it) =>
    get("/admin/groups/" + encodeURIComponent(it.groupName) + "/lag")));
  fillTable("groups", ["Group", "Members", "Behind (messages)"],
    groups.groups.slice(0, 50).map((it, index) => [it.groupName,
      text(it.memberCount), text(lags[index].totalLag)]),
    "No groups yet");
  fillTable("clients", ["Client", "Kind", "Group", "Address", "Language"],
    clients.clients.map((it) => [it.clientId, it.kind, it.group, it.address,
      it.language]), "No clients are connected");
  byId("main").hidden = false;
}

async function loop() {
  try {
    await refresh();
    byId("error").hidden = true;
    byId("login").hidden = true;
  } catch (error) {
    const asksToken = error.message === "token";
    byId("login").hidden = !asksToken;
    byId("error").hidden = asksToken;
    byId("error").textContent = "No answer: " + error.message;
    if (asksToken) return;
  }
  setTimeout(loop, PERIOD_MS);
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", byId("token").value);
  loop();
});
loop();
`;
