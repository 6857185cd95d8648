"""Tries to lose what another program has put on a device: each kind of signature at each moment of a helper that prepares targets over two loop devices."""

import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .helper import PROGRAM
from .report import Record, say, verdict

BYTES = 160 << 20
SECTOR = 512
UUID = bytes(range(1, 17))
LABEL = b"precious"
WAIT = 600


def packed(size, *fields):
    """Bytes of a structure: for each field where it begins, and bytes or a format with its values."""
    block = bytearray(size)
    for at, value, *numbers in fields:
        value = struct.pack(value, *numbers) if numbers else value
        block[at : at + len(value)] = value
    return block


def crc(data, polynomial, begin):
    for byte in data:
        begin ^= byte
        for _ in range(8):
            begin = begin >> 1 ^ (polynomial if begin & 1 else 0)
    return begin


def md(at):
    """A superblock of version 1 there."""
    block = packed(260, (0, "<II", 0xA92B4EFC, 1), (16, UUID), (32, LABEL), (72, "<I", 1), (80, "<Q", 1000), (92, "<I", 2),
                   (128, "<QQQ", 2048, 1000, at // SECTOR), (220, "<I", 2))
    total = sum(struct.unpack("<65I", block))
    block[216:220] = struct.pack("<I", (total & 0xFFFFFFFF) + (total >> 32))
    return [(at, block)]


def btrfs():
    block = packed(4096, (32, UUID), (48, "<Q", 65536), (64, b"_BHRfS_M"), (144, "<II", 4096, 16384), (299, LABEL))
    block[0:4] = struct.pack("<I", crc(block[32:], 0x82F63B78, 0xFFFFFFFF) ^ 0xFFFFFFFF)
    return [(65536, block)]


def lvm():
    block = packed(SECTOR, (0, b"LABELONE"), (8, "<Q", 1), (20, "<I", 32), (24, b"LVM2 001"), (32, b"abcdefghijklmnopqrstuvwxyz012345"))
    block[16:20] = struct.pack("<I", crc(block[20:], 0xEDB88320, 0xF597A6CF))
    return [(SECTOR, block)]


def table(kind):
    """A partition table with one partition."""
    return packed(SECTOR, (450, bytes([kind])), (454, "<II", 2048, 2048), (510, b"\x55\xaa"))


def gpt():
    last = BYTES // SECTOR - 1

    def header(here, there, entries):
        block = packed(92, (0, b"EFI PART"), (8, "<II", 0x10000, 92), (24, "<QQQQ", here, there, 34, last - 33), (56, UUID),
                       (72, "<QIII", entries, 128, 128, zlib.crc32(bytes(16384))))
        block[16:20] = struct.pack("<I", zlib.crc32(block))
        return block

    return [(0, table(0xEE)), (SECTOR, header(1, last, 2)), (last * SECTOR, header(last, 1, last - 32))]


def zfs():
    labels = (128 << 10, 384 << 10)
    return [(label + n * 1024, struct.pack("<QQQ", 0x00BAB10C, 5000, n + 1)) for label in labels for n in range(8)]


# By the type that blkid gives them: its name for a table of partitions is another one.
KINDS = {
    "ext4": [(1024, packed(1024, (0, "<II", 16, 16384), (24, "<I", 2), (56, b"\x53\xef"), (76, "<I", 1), (92, "<II", 4, 0x40), (104, UUID), (120, LABEL)))],
    "xfs": [(0, packed(SECTOR, (0, b"XFSB"), (4, ">IQ", 4096, 40960), (32, UUID), (48, ">Q", 8192), (80, ">IIIII", 1, 10240, 4, 0, 1368),
                       (100, ">HHHH", 0xB4A5, 512, 512, 8), (108, LABEL), (120, bytes([12, 9, 9, 3, 14, 0, 0, 25])), (128, ">Q", 64)))],
    "btrfs": btrfs(),
    "jfs": [(32768, packed(256, (0, b"JFS1"), (4, "<IQ", 1, 1000), (16, "<IHHIHH", 4096, 12, 3, 512, 9, 0), (136, UUID), (152, LABEL)))],
    "f2fs": [(1024, packed(3072, (0, "<IHH", 0xF2F52010, 1, 14), (8, "<IIII", 9, 3, 12, 9), (108, UUID)))],
    "vfat": [(0, packed(SECTOR, (0, b"\xeb\x58\x90mkfs.fat"), (11, "<HBHBH", 512, 4, 4, 2, 512), (21, "<BH", 0xF8, 200), (32, "<I", 100000),
                        (38, b"\x29abcdPRECIOUS   FAT16   "), (510, b"\x55\xaa")))],
    "iso9660": [(32768, packed(2048, (0, b"\x01CD001\x01"), (40, LABEL.upper())))],
    "squashfs": [(0, packed(96, (0, b"hsqs"), (28, "<H", 4)))],
    "swap": [(0, packed(4096, (1024, "<II", 1, 100), (1036, UUID), (1052, LABEL), (4086, b"SWAPSPACE2")))],
    "crypto_LUKS": [(0, packed(1024, (0, b"LUKS\xba\xbe\x00\x01aes"), (40, b"cbc-plain"), (168, b"01020304-0506-0708-090a-0b0c0d0e0f10")))],
    "LVM2_member": lvm(),
    "linux_raid_member 0.90": [(BYTES - 65536, packed(4096, (0, "<III", 0xA92B4EFC, 0, 90), (20, "<I", 1), (28, "<IIII", 1, 1024, 2, 2), (52, UUID[4:])))],
    "linux_raid_member 1.0": md(BYTES - 16 * SECTOR),
    "linux_raid_member 1.1": md(0),
    "linux_raid_member 1.2": md(4096),
    "zfs_member": zfs(),
    "bcache": [(4096, packed(256, (8, "<QQ", 8, 1), (24, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")), (40, UUID)))],
    "gpt": gpt(),
    "dos": [(0, table(0x83))],
}

# Each moment of a preparation at which another program may come. The helper stops itself there, or is killed there.
HELD = ("check_device", "wipe", "mkfs")
KILLED = (("--stop-before", "wipe"), ("--stop-after", "wipe"), ("--stop-after", "mkfs"), ("--stop-after", "mount"))
MOMENTS = [("before",), ("released",), *(("held", step) for step in HELD), *(("killed", *words) for words in KILLED)]
# Helpers at once, each with disks of its own.
AT_ONCE = 4


class Disks:
    """Loop devices that the configuration of a helper allows."""

    def __init__(self, directory):
        self.place = Path(tempfile.mkdtemp(prefix="pgfsbench-signatures.", dir=directory))
        self.config = self.place / "helper.toml"
        self.disks = []

    def __enter__(self):
        text = f'mount_root = "{self.place}/mnt"\nstate = "{self.place}/state"\n[[database]]\nname = "bench"\nconnection = "host=/nowhere user=postgres"\n'
        for n in range(2):
            file = self.place / f"disk{n}"
            with open(file, "wb") as disk:
                disk.truncate(BYTES)
            self.disks.append(program("losetup", "--find", "--show", file))
            text += f'[[device]]\npath = "{self.disks[-1]}"\n'
        self.config.write_text(text, encoding="utf-8")
        self.config.chmod(0o600)
        return self

    def __exit__(self, *_):
        self.helper("cleanup")
        for disk in self.disks:
            program("losetup", "-d", disk)
        shutil.rmtree(self.place)

    def helper(self, *arguments, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run(self.command(*arguments), text=True, timeout=WAIT, **options)

    def command(self, *arguments):
        return [PROGRAM, "--config", self.config, *arguments]

    def prepare(self, *more):
        over = [word for disk in self.disks for word in ("--device", disk)]
        return ("prepare", "--target", "t", "--filesystem", "btrfs", "--layout", "btrfs-raid1", *over, *more)

    def start_anew(self):
        """Empties all disks, of which the helper then knows nothing."""
        for records in ("made", "erasing"):
            shutil.rmtree(self.place / "state" / records, ignore_errors=True)
        for disk in self.disks:
            program("blkdiscard", "-f", "-z", disk)

    def held(self, step, happens):
        """A preparation that stops before a step, in which something happens."""
        with subprocess.Popen(self.command(*self.prepare("--pause-before", step)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as helper:
            try:
                stopped(helper)
                happens()
                # A step that is taken for each device stops it each time.
                os.kill(helper.pid, 18)
                while not stopped(helper):
                    os.kill(helper.pid, 18)
                return helper.returncode, helper.stderr.read()
            except BaseException:
                helper.kill()
                raise


def stopped(helper):
    """Waits until it has stopped or ended; whether it has ended."""
    _, status = os.waitpid(helper.pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return False
    helper.returncode = os.waitstatus_to_exitcode(status)
    return True


def program(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.strip()


def put(disk, kind):
    """Another program makes something of its own there."""
    program("blkdiscard", "-f", "-z", disk)
    with open(disk, "r+b") as device:
        for at, block in KINDS[kind]:
            device.seek(at)
            device.write(block)
        device.flush()
        os.fsync(device.fileno())


def is_there(disk, kind):
    with open(disk, "rb") as device:
        for at, block in KINDS[kind]:
            device.seek(at)
            if device.read(len(block)) != block:
                return False
    told = program("blkid", "-p", "-o", "export", disk)
    return f"TYPE={kind.split(' ')[0]}\n" in told + "\n"


def attempt(disks, kind, disk, moment):
    """Puts it there at a moment: the exit code and the words of the helper that then prepares a target, or goes on with that."""
    disks.start_anew()
    name, *words = moment
    if name == "held":
        return disks.held(words[0], lambda: put(disk, kind))
    if name == "killed":
        killed = disks.helper(*disks.prepare(*words))
        if killed.returncode != -9:
            raise SystemExit(f"the helper was not killed: {killed.stderr}")
        disks.helper("cleanup", check=True)
    elif name == "released":
        disks.helper(*disks.prepare(), check=True)
        disks.helper("release", "--target", "t", check=True)
    put(disk, kind)
    refused = disks.helper(*disks.prepare())
    return refused.returncode, refused.stderr


def attempts(directory, kind):
    """All attempts with one kind: where and when it was put there, whether it is still there, and whether the helper has refused the disk."""
    found = []
    with Disks(directory) as disks:
        put(disks.disks[0], kind)
        if not is_there(disks.disks[0], kind):
            raise SystemExit(f"blkid does not know this {kind}")
        for number, disk in enumerate(disks.disks):
            for moment in MOMENTS:
                code, said = attempt(disks, kind, disk, moment)
                found.append({"kind": kind, "disk": number, "moment": moment, "kept": is_there(disk, kind), "refused": code == 1, "said": said})
                # A preparation that has succeeded is undone.
                if code != 1:
                    disks.helper("cleanup")
    return found


def signatures(o):
    record = Record("signatures")
    tries, bad = 0, 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for found in pool.map(lambda kind: attempts(o.directory, kind), KINDS):
            for one in found:
                record.add(**one)
                tries += 1
                # One that is not refused would be lost later.
                if not (one["kept"] and one["refused"]):
                    bad += 1
                    say(f"  {one}")
            say(f"  {found[0]['kind']}: {tries} tries, {bad} lost or not refused")
    verdict(f"{bad} of {tries} foreign signatures lost or not refused", bad == 0 and tries >= 300, "0 of 300")
